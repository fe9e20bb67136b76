package parser

// wordRules look at single words anywhere in a statement. The words must be in
// triggerWords too.
var wordRules = map[string]func(r *rewriter, i int){}

// statementRules look at statements by their first word.
var statementRules = map[string]statementRule{}

func init() {
	register := func(rule func(r *rewriter, i int), words ...string) {
		for _, w := range words {
			wordRules[w] = rule
		}
	}
	register((*rewriter).lockClause, "for")
	register((*rewriter).definer, "definer")
	register((*rewriter).dropModifier, "low_priority", "high_priority", "delayed", "quick", "concurrent",
		"sql_buffer_result", "sql_small_result", "sql_big_result", "sql_no_cache", "distinctrow")
	register((*rewriter).indexHint, "key", "index")
	register((*rewriter).isUnknown, "unknown")
	register((*rewriter).rowConstructor, "row")
	register((*rewriter).interval, "interval")
	register((*rewriter).memberOf, "member")
	register((*rewriter).nullTreatment, "respect", "nulls")
	register((*rewriter).trimDefault, "leading", "trailing", "both")
	register((*rewriter).frameBound, "preceding", "following")
	register((*rewriter).quantifier, "any", "some", "all")
	register((*rewriter).timestampUnit, "timestampadd", "timestampdiff")
	register((*rewriter).refuseClause, "rollup", "partition", "outfile", "dumpfile")
	for w, t := range triggerWords {
		if t == triggerName {
			wordRules[w] = (*rewriter).plainName
		}
	}

	for w, rule := range map[string]statementRule{
		"create": (*rewriter).create, "alter": (*rewriter).alter, "drop": (*rewriter).drop, "rename": (*rewriter).rename,
		"start": (*rewriter).startTransaction, "commit": (*rewriter).endTransaction, "rollback": (*rewriter).endTransaction,
		"set": (*rewriter).set, "show": (*rewriter).show, "desc": (*rewriter).describe, "describe": (*rewriter).describe,
		"explain": (*rewriter).describe, "do": (*rewriter).do, "lock": (*rewriter).lockTables, "unlock": (*rewriter).lockTables,
		"analyze": (*rewriter).analyzeTable, "optimize": (*rewriter).optimizeTable, "check": (*rewriter).checkTable,
		"repair": (*rewriter).repairTable, "flush": (*rewriter).flush, "kill": (*rewriter).kill,
		"insert": (*rewriter).insert, "delete": (*rewriter).deleteFrom, "load": (*rewriter).loadData,
		"declare": (*rewriter).declare,
	} {
		statementRules[w] = rule
	}
	for w, what := range unsupportedStatements {
		statementRules[w] = func(r *rewriter, _ int) { r.refuse(what) }
	}
}

// unsupportedStatements are the statements of MySQL 8.4 that give error 1235, by
// their first word.
var unsupportedStatements = map[string]string{
	"binlog": "BINLOG", "change": "CHANGE REPLICATION SOURCE", "checksum": "CHECKSUM TABLE", "clone": "CLONE",
	"get": "GET DIAGNOSTICS", "handler": "HANDLER", "help": "HELP", "import": "IMPORT TABLE",
	"install": "INSTALL PLUGIN", "purge": "PURGE BINARY LOGS", "reset": "RESET", "restart": "RESTART",
	"shutdown": "SHUTDOWN", "uninstall": "UNINSTALL PLUGIN", "xa": "XA", "cache": "CACHE INDEX",
}
