package cfile

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// minCompress is the smallest payload in bytes worth trying: below, frame
// headers eat the gain.
const minCompress = 64

// Encoder and decoder are shared by all files of the process: both are safe for
// concurrent EncodeAll/DecodeAll, start no goroutine for them and keep large
// tables. Our own CRC covers the stored bytes, so zstd's is off.
var sharedEncoder = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false),
		zstd.WithSingleSegment(true), zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
})

var sharedDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxChunkRaw), zstd.IgnoreChecksum(true))
})

// compress encodes raw as zstd into buf, which it returns grown; saved tells
// whether that is shorter by at least a tenth, else raw is to be stored as it is.
func compress(buf, raw []byte) (out []byte, saved bool, err error) {
	if len(raw) < minCompress {
		return buf, false, nil
	}
	enc, err := sharedEncoder()
	if err != nil {
		return buf, false, fmt.Errorf("zstd encoder: %w", err)
	}
	out = enc.EncodeAll(raw, buf[:0])
	return out, len(out) <= len(raw)-len(raw)/10, nil
}

// decompress decodes a zstd frame that must hold exactly size bytes into dst's
// memory if it is large enough. The frame header is asked first, so that
// damaged lengths allocate nothing.
func decompress(dst, stored []byte, size int) ([]byte, error) {
	dec, err := sharedDecoder()
	if err != nil {
		return nil, fmt.Errorf("zstd decoder: %w", err)
	}
	var h zstd.Header
	if err := h.Decode(stored); err != nil {
		return nil, fmt.Errorf("zstd frame: %w", err)
	}
	if !h.HasFCS || h.FrameContentSize != uint64(size) {
		return nil, fmt.Errorf("zstd frame of %d bytes, want %d", h.FrameContentSize, size)
	}
	if cap(dst) < size {
		dst = make([]byte, 0, size)
	}
	out, err := dec.DecodeAll(stored, dst[:0])
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	if len(out) != size {
		return nil, fmt.Errorf("zstd gave %d bytes, want %d", len(out), size)
	}
	return out, nil
}

// scratch holds the buffers of one chunk read whose payload is not kept.
type scratch struct{ stored, raw []byte }

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

// putScratch gives s back, without buffers that only a rare large chunk needed.
func putScratch(s *scratch) {
	const keep = 4 << 20
	if cap(s.stored) > keep {
		s.stored = nil
	}
	if cap(s.raw) > keep {
		s.raw = nil
	}
	scratchPool.Put(s)
}
