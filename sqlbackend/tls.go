package sqlbackend

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"time"

	"ksql/internal/vfs"
)

// maxCertificate bounds what is read of a certificate or key file.
const maxCertificate = 1 << 20

// selfMadeTLS returns the folder's own certificate, made at first use: clients that
// ask for encryption get it, and those that verify names don't trust it.
func (b *Backend) selfMadeTLS() (*tls.Config, error) {
	dir := b.dir + "/tls"
	cert, err := vfs.ReadFile(b.fs, dir+"/cert.pem", maxCertificate)
	key, kerr := vfs.ReadFile(b.fs, dir+"/key.pem", maxCertificate)
	if err = errors.Join(err, kerr); errors.Is(err, fs.ErrNotExist) {
		cert, key, err = makeCertificate()
		if err == nil {
			err = b.writeTLS(dir, cert, key)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("self-made certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("self-made certificate in %s: %w", dir, err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

func (b *Backend) writeTLS(dir string, cert, key []byte) error {
	if err := b.fs.MkdirAll(dir); err != nil {
		return err
	}
	for name, data := range map[string][]byte{"key.pem": key, "cert.pem": cert} {
		f, err := b.fs.Create(dir + "/" + name)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		if err == nil {
			err = f.Sync()
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return vfs.SyncDir(b.fs, dir)
}

func makeCertificate() (cert, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return nil, nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "ksql self-made certificate"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(10, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		return nil, nil, err
	}
	pkcs, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs}), nil
}
