package tablet

// memRow is one row of a MemRowSet.
type memRow struct{}
