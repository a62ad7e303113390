package output_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/output"
)

// FuzzFromLog: whatever a tool writes, the result is a prefix of it, says so if
// it is shorter, and costs no more than allowed.
func FuzzFromLog(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "null", "plain text", "\xff\xfe\x00\x80", "\x1b[31mred\x1b[0m\r\n", "\xed\xa0\x80", "abc\xe7\x95",
		strings.Repeat("a", 65), strings.Repeat("界", 30), "🙂" + strings.Repeat("<&>\u2028", 20), strings.Repeat("\x00", 64), strings.Repeat("\"\\\n", 32), "\x7f\b\f\u2029\ufffd",
	} {
		f.Add([]byte(seed), 64)
		f.Add([]byte(seed), 13)
	}
	f.Fuzz(func(t *testing.T, log []byte, maxBytes int) {
		if maxBytes < 4 || maxBytes > 1<<20 {
			return
		}
		read := log[:min(len(log), int(output.LogLimit(maxBytes)))]
		result := output.FromLog(read, maxBytes)
		checkResult(t, log, result, maxBytes)
	})
}

// FuzzFromTerminationMessage: the same for a message that the kubelet cut.
func FuzzFromTerminationMessage(f *testing.F) {
	f.Add("")
	f.Add("done\n")
	f.Add(strings.Repeat("a", 4096))
	f.Add(strings.Repeat("\x00", 4096))
	f.Add("\xff" + strings.Repeat("界", 1000))
	f.Fuzz(func(t *testing.T, message string) {
		message = message[:min(len(message), 4095)]
		result := output.FromTerminationMessage(message, output.DefaultMaxBytes)
		checkResult(t, []byte(message), result, output.DefaultMaxBytes)
		if result.Truncated {
			t.Errorf("a message of %d bytes is cut", len(message))
		}
	})
}

func checkResult(t *testing.T, written []byte, result *v1alpha1.CallResult, maxBytes int) {
	t.Helper()
	encoded, err := json.Marshal(result.Output)
	if err != nil || len(encoded)-len(`""`) > maxBytes {
		t.Errorf("%d bytes as JSON, at most %d allowed (%v)", len(encoded)-len(`""`), maxBytes, err)
	}
	decoded := []byte(result.Output)
	if result.Encoding == v1alpha1.EncodingBase64 {
		if decoded, err = base64.StdEncoding.DecodeString(result.Output); err != nil {
			t.Fatal(err)
		}
	} else if !utf8.ValidString(result.Output) {
		t.Errorf("%q is not UTF-8", result.Output)
	}
	if !strings.HasPrefix(string(written), string(decoded)) {
		t.Errorf("%q is no prefix of %q", decoded, written)
	}
	if int64(len(decoded)) != result.Bytes {
		t.Errorf("says %d bytes, has %d", result.Bytes, len(decoded))
	}
	if result.Truncated != (len(decoded) < len(written)) {
		t.Errorf("truncated %v with %d of %d bytes", result.Truncated, len(decoded), len(written))
	}
	if kept := len(decoded); result.Truncated && kept < maxBytes/4*3-utf8.UTFMax && result.Encoding == v1alpha1.EncodingUTF8 {
		t.Errorf("keeps %d bytes as text where Base64 would hold %d", kept, maxBytes/4*3)
	}
}
