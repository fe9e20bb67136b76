CREATE DATABASE shop;
CREATE TABLE shop.stock (
  item   VARCHAR(40) PRIMARY KEY,
  pieces INT NOT NULL CHECK (pieces >= 0),
  price  DECIMAL(10, 2) NOT NULL
);
CREATE TABLE shop.sale (
  id     BIGINT AUTO_INCREMENT PRIMARY KEY,
  item   VARCHAR(40) NOT NULL,
  pieces INT NOT NULL,
  at     DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  KEY by_item (item),
  FOREIGN KEY (item) REFERENCES shop.stock (item)
);
