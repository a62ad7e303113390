// Package output turns what a tool wrote into the result of its call.
package output

import (
	"encoding/base64"
	"strings"
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
	cut := len(message) >= terminationMessageLimit
	if cut {
		message = mend(message)
	}
	result := encode([]byte(message), maxBytes)
	result.Source = v1alpha1.OutputTerminationMessage
	result.Truncated = result.Truncated || cut
	return result
}

// mend drops what a cut left of the first and the last character.
func mend(message string) string {
	for i := 1; i < utf8.UTFMax && message != "" && !utf8.RuneStart(message[0]); i++ {
		message = message[1:]
	}
	for i := 1; i < utf8.UTFMax; i++ {
		if r, size := utf8.DecodeLastRuneInString(message); r != utf8.RuneError || size != 1 {
			break
		}
		message = message[:len(message)-1]
	}
	return message
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

// encode keeps the head of data whose encoded form fits maxBytes: as text, unless
// it is not UTF-8, or its escapes in JSON would cost more than Base64 is worth.
func encode(data []byte, maxBytes int) *v1alpha1.CallResult {
	raw := data[:min(len(data), maxBytes/4*3)]
	text, isText := textPrefix(data, maxBytes)
	if isText && (len(text) == len(data) || len(text) >= len(raw)) && !costly(text) {
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

// costly tells whether the escapes of text in JSON more than double it: then it
// is made of control characters, not for people to read, and Base64, at four
// thirds, costs far less. What only HTML needs escaped does not count: a page is
// to be read as a page.
func costly(text []byte) bool {
	cost := 0
	for _, r := range string(text) {
		if strings.ContainsRune(escapedForHTML, r) {
			cost++
			continue
		}
		cost += jsonCost(r, utf8.RuneLen(r))
	}
	return cost > 2*len(text)
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

// Characters that are escaped in JSON: with one letter, and for HTML's sake.
const (
	escapedShort   = "\"\\\n\r\t\b\f"
	escapedForHTML = "<>&"
)

// jsonCost is how many bytes a character takes in the JSON that the API server
// stores, which also escapes what HTML would trip over.
func jsonCost(r rune, size int) int {
	switch {
	case strings.ContainsRune(escapedShort, r):
		return len(`\n`)
	case r < ' ' || r == '\u2028' || r == '\u2029' || strings.ContainsRune(escapedForHTML, r):
		return len(`\u0000`)
	default:
		return size
	}
}
