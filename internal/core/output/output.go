// Package output turns what a tool wrote into the result of its call.
package output

import (
	"encoding/base64"
	"time"
	"unicode/utf8"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
)

// DefaultMaxBytes is the most that the encoded output may take.
const DefaultMaxBytes = 64 << 10

// How long a log may take to read.
const (
	// ReadTimeout of the log of a tool that ended: the verdict waits for it.
	ReadTimeout = 2 * time.Second
	// EvidenceTimeout of the log of a tool that was ended by force: the deletion
	// of its pod waits for it.
	EvidenceTimeout = time.Second
)

// terminationMessageLimit is where the kubelet cuts a termination message,
// without a mark. One of exactly this length counts as cut.
const terminationMessageLimit = 4096

// FromTerminationMessage is the result of a tool that wrote /dev/termination-log.
func FromTerminationMessage(message string, maxBytes int) *v1alpha1.CallResult {
	result := encode([]byte(message), maxBytes)
	result.Source = v1alpha1.OutputTerminationMessage
	result.Truncated = result.Truncated || len(message) == terminationMessageLimit
	return result
}

// FromLog is the result of a tool whose log begins with head. The log must have
// been read to LogLimit for a cut to be seen.
func FromLog(head []byte, maxBytes int) *v1alpha1.CallResult {
	result := encode(head, maxBytes)
	result.Source = v1alpha1.OutputLogs
	return result
}

// Unavailable is the result of a tool whose output could not be read.
func Unavailable() *v1alpha1.CallResult {
	return &v1alpha1.CallResult{Encoding: v1alpha1.EncodingUTF8, Source: v1alpha1.OutputUnavailable}
}

// LogLimit is how much of a log to read: one byte more than a result can hold.
func LogLimit(maxBytes int) int64 {
	return int64(maxBytes) + 1
}

// encode keeps the head of data whose encoded form fits maxBytes. Text stays
// text, unless it would have to be cut and Base64 holds more of it; what is not
// UTF-8 is Base64.
func encode(data []byte, maxBytes int) *v1alpha1.CallResult {
	raw := data[:min(len(data), maxBytes/4*3)]
	text, isText := textPrefix(data, maxBytes)
	if isText && (len(text) == len(data) || len(text) >= len(raw)) {
		return &v1alpha1.CallResult{
			Output:    string(text),
			Encoding:  v1alpha1.EncodingUTF8,
			Bytes:     int64(len(text)),
			Truncated: len(text) < len(data),
		}
	}
	return &v1alpha1.CallResult{
		Output:    base64.StdEncoding.EncodeToString(raw),
		Encoding:  v1alpha1.EncodingBase64,
		Bytes:     int64(len(raw)),
		Truncated: len(raw) < len(data),
	}
}

// textPrefix is the longest prefix of data whose JSON form fits maxBytes, cut at
// the end of a character, and whether it is UTF-8. A character that the read
// limit cut is no fault of the text.
func textPrefix(data []byte, maxBytes int) (prefix []byte, ok bool) {
	cost := 0
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			cutByLimit := len(data) > maxBytes && !utf8.FullRune(data[i:])
			return data[:i], cutByLimit
		}
		if cost += jsonCost(r, size); cost > maxBytes {
			return data[:i], true
		}
		i += size
	}
	return data, true
}

// jsonCost is how many bytes a character takes in the JSON that the API server
// stores, which also escapes what HTML would trip over.
func jsonCost(r rune, size int) int {
	const escaped = len(`\u0000`)
	switch {
	case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t' || r == '\b' || r == '\f':
		return len(`\n`)
	case r < ' ' || r == '<' || r == '>' || r == '&' || r == '\u2028' || r == '\u2029':
		return escaped
	default:
		return size
	}
}
