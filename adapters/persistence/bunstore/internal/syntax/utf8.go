package syntax

// A CAST between texts and blobs of SQLite uses the encoding of the file, which may be UTF-16. JSONB is UTF-8 in every
// file, and a text in JSONB consists of a header and the bytes of the text.

// BlobText returns the expression for the text in UTF-8 that a blob of SQLite holds.
func BlobText(blob string) string {
	return Fill(`
		CASE WHEN CAST('a' AS blob) = x'61' THEN CAST({blob} AS text)
			ELSE json_extract(unhex('EA' || printf('%08X', length({blob})) || hex({blob})), '$') END`, "blob", blob)
}

// BlobTexts returns the expression for the text in the encoding of the file, which the blob holds if a statement has
// cast a text to it, and the text in UTF-8. The function substr is necessary, because SQLite casts large cells as
// UTF-8.
func BlobTexts(blob string) string {
	return Fill(`
		CASE WHEN CAST('a' AS blob) = x'61' THEN '' ELSE CAST(substr({blob}, 1) AS text) || char(30) END || {utf8}`,
		"blob", blob, "utf8", BlobText(blob))
}

// WithHeader returns the expression for a blob with the bytes of a text of SQLite in UTF-8, after their header.
func WithHeader(text string) string { return "jsonb_set('0', '$', " + text + ")" }

// LongHeader is the number of bytes of the header if the text has 64 KiB or more. The header of a shorter text is
// shorter.
const LongHeader = 5
