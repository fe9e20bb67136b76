-- MySQL dump 10.13  Distrib 8.4.0, for Linux (x86_64)
/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40101 SET @OLD_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS */;
/*!50503 SET NAMES utf8mb4 */;
/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;
/*!40103 SET TIME_ZONE='+00:00' */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;
/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;
/*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;
SET @MYSQLDUMP_TEMP_LOG_BIN = @@SESSION.SQL_LOG_BIN;
SET @@SESSION.SQL_LOG_BIN= 0;
SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ '';
CREATE DATABASE /*!32312 IF NOT EXISTS*/ `d` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci */ /*!80016 DEFAULT ENCRYPTION='N' */;
USE `d`;
DROP TABLE IF EXISTS `t`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `t` (
  `id` int unsigned NOT NULL AUTO_INCREMENT,
  `a` varchar(10) COLLATE utf8mb4_bin DEFAULT NULL COMMENT 'it''s; -- x',
  `g` int GENERATED ALWAYS AS ((`id` + 1)) VIRTUAL,
  `ts` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  `j` json DEFAULT (json_array()),
  `p` point /*!80003 SRID 4326 */ DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `u` (`a`,`ts`) USING BTREE,
  KEY `k` (`a`(3) DESC) /*!80000 INVISIBLE */,
  FULLTEXT KEY `f` (`a`) /*!50100 WITH PARSER `ngram` */ ,
  CONSTRAINT `c` CHECK ((`id` > 0)) /*!80016 NOT ENFORCED */,
  CONSTRAINT `fk` FOREIGN KEY (`id`) REFERENCES `u` (`id`) ON DELETE CASCADE ON UPDATE RESTRICT
) ENGINE=InnoDB AUTO_INCREMENT=5 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci ROW_FORMAT=DYNAMIC COMMENT='c'
/*!50100 PARTITION BY RANGE (`id`)
(PARTITION p0 VALUES LESS THAN (10) ENGINE = InnoDB,
 PARTITION p1 VALUES LESS THAN MAXVALUE ENGINE = InnoDB) */;
/*!40101 SET character_set_client = @saved_cs_client */;
LOCK TABLES `t` WRITE;
/*!40000 ALTER TABLE `t` DISABLE KEYS */;
INSERT INTO `t` VALUES (1,'a',_binary '\0\'',NULL),(2,_utf8mb4'ü',0x4142,-1.5e3);
INSERT  IGNORE INTO `t` (`id`) VALUES (1);
/*!40000 ALTER TABLE `t` ENABLE KEYS */;
UNLOCK TABLES;
SET @saved_cs_client     = @@character_set_client;
/*!50503 SET character_set_client = utf8mb4 */;
/*!50001 CREATE VIEW `v` AS SELECT
 1 AS `id`,
 1 AS `a`*/;
/*!50001 DROP VIEW IF EXISTS `v`*/;
/*!50001 CREATE ALGORITHM=UNDEFINED */
/*!50013 DEFINER=`root`@`localhost` SQL SECURITY DEFINER */
/*!50001 VIEW `v` AS select `t`.`id` AS `id`,`t`.`a` AS `a` from `t` */;
DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`localhost`*/ /*!50003 TRIGGER `tr` BEFORE INSERT ON `t` FOR EACH ROW BEGIN
 SET NEW.a = 'x;y';
END */;;
DELIMITER ;
/*!50106 SET @save_time_zone= @@TIME_ZONE */ ;
/*!50106 DROP EVENT IF EXISTS `e` */;
DELIMITER ;;
/*!50106 CREATE*/ /*!50117 DEFINER=`root`@`localhost`*/ /*!50106 EVENT `e` ON SCHEDULE EVERY 1 DAY STARTS '2020-01-01 00:00:00' ON COMPLETION NOT PRESERVE ENABLE DO DELETE FROM t */ ;;
DELIMITER ;
DELIMITER ;;
CREATE DEFINER=`root`@`localhost` PROCEDURE `p`(IN `a` int, OUT b int)
    READS SQL DATA
    COMMENT 'x'
BEGIN
  SELECT COUNT(*) INTO b FROM t;
END ;;
DELIMITER ;
ALTER DATABASE `d` CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci ;
/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;
/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;
SELECT @@version_comment limit 1;
SHOW VARIABLES LIKE 'gtid\_mode';
SELECT LOGFILE_GROUP_NAME, FILE_NAME, TOTAL_EXTENTS, INITIAL_SIZE, ENGINE, EXTRA FROM INFORMATION_SCHEMA.FILES WHERE FILE_TYPE = 'UNDO LOG' AND FILE_NAME IS NOT NULL;
SHOW CREATE DATABASE IF NOT EXISTS `d`;
SAVEPOINT sp;
show table status like 't';
SET SQL_QUOTE_SHOW_CREATE=1;
SET SESSION character_set_results = 'binary';
show create table `t`;
show fields from `t`;
show triggers like 't';
SELECT /*!40001 SQL_NO_CACHE */ * FROM `t`;
ROLLBACK TO SAVEPOINT sp;
RELEASE SAVEPOINT sp;
SELECT COLUMN_NAME, JSON_EXTRACT(HISTOGRAM, '$."number-of-buckets-specified"') FROM information_schema.COLUMN_STATISTICS WHERE SCHEMA_NAME = 'd' AND TABLE_NAME = 't';
FLUSH /*!40101 LOCAL */ TABLES;
FLUSH TABLES WITH READ LOCK;
SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ;
START TRANSACTION /*!40100 WITH CONSISTENT SNAPSHOT */;
SHOW MASTER STATUS;
SET autocommit=0, SESSION wait_timeout = 28800, @@SESSION.net_write_timeout=DEFAULT;
SELECT GROUP_CONCAT(x) FROM t FOR UPDATE SKIP LOCKED;
SET character_set_results = NULL;
SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_TRANS_TABLES'), NAMES utf8mb4;
SELECT @@session.auto_increment_increment AS auto_increment_increment, @@character_set_client AS character_set_client, @@init_connect AS init_connect, @@transaction_isolation AS transaction_isolation;
SELECT table_name AS "Name", round((data_length + index_length) / 1024) `size` FROM information_schema.tables t WHERE table_schema = 'x' ORDER BY (data_length+index_length) DESC;
SELECT * FROM t WHERE (a, b) > (1, 2) AND `t`.`x` <=> NULL LIMIT 10 OFFSET 0;
INSERT INTO t (a) VALUES (?) ON DUPLICATE KEY UPDATE a = VALUES(a), id = LAST_INSERT_ID(id);
UPDATE t AS x INNER JOIN u y ON x.id = y.id SET x.a = y.a;
ALTER TABLE t ADD CONSTRAINT fk FOREIGN KEY (a) REFERENCES u (b), ALGORITHM=COPY;
ALTER TABLE `t` CHANGE `a` `b` VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci DEFAULT 'x' NOT NULL COMMENT '(DC2Type:json)';
ALTER TABLE t MODIFY COLUMN a ENUM('x','y') NOT NULL DEFAULT 'x' AFTER id, ADD INDEX idx (a), DROP FOREIGN KEY fk;
CREATE TABLE IF NOT EXISTS `django_migrations` (`id` bigint AUTO_INCREMENT NOT NULL PRIMARY KEY, `app` varchar(255) NOT NULL, `applied` datetime(6) NOT NULL);
SELECT (1) AS `a` FROM `auth_user` WHERE `auth_user`.`id` = 1 LIMIT 1;
SELECT VERSION(), @@sql_mode, @@default_storage_engine, @@sql_auto_is_null, @@lower_case_table_names, CONVERT_TZ('2001-01-01 01:00:00', 'UTC', 'UTC') IS NOT NULL;
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;
SHOW FULL TABLES WHERE Table_type = 'BASE TABLE';
SELECT kc.`column_name` FROM information_schema.key_column_usage AS kc, information_schema.table_constraints AS c WHERE kc.table_schema = DATABASE() AND (kc.referenced_table_name IS NOT NULL OR c.constraint_type IN ('PRIMARY KEY', 'UNIQUE'));
