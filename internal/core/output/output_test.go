package output_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcall-dev/toolcall-operator/api/v1alpha1"
	"github.com/toolcall-dev/toolcall-operator/internal/core/output"
)

const limit = output.DefaultMaxBytes

// head is what is read of a log: no more than the limit for logs.
func head(log string) []byte {
	return []byte(log[:min(len(log), int(output.LogLimit(limit)))])
}

func text(output string, truncated bool) *v1alpha1.CallResult {
	return &v1alpha1.CallResult{Output: output, Encoding: v1alpha1.EncodingUTF8, Bytes: int64(len(output)), Truncated: truncated, Source: v1alpha1.OutputLogs}
}

func binary(output string, truncated bool) *v1alpha1.CallResult {
	encoded := base64.StdEncoding.EncodeToString([]byte(output))
	return &v1alpha1.CallResult{Output: encoded, Encoding: v1alpha1.EncodingBase64, Bytes: int64(len(output)), Truncated: truncated, Source: v1alpha1.OutputLogs}
}

// short makes long outputs fit a diff: their length, sum and beginning.
func short(result *v1alpha1.CallResult) v1alpha1.CallResult {
	brief := *result
	if len(brief.Output) > 80 {
		brief.Output = fmt.Sprintf("%d bytes, sum %x: %.20q", len(brief.Output), sha256.Sum256([]byte(brief.Output)), brief.Output)
	}
	return brief
}

func TestFromLogKeepsTheHeadOfTheLog(t *testing.T) {
	a := func(n int) string { return strings.Repeat("a", n) }
	for name, tc := range map[string]struct {
		log  string
		want *v1alpha1.CallResult
	}{
		"B114 empty":                           {log: "", want: text("", false)},
		"B114 one line feed":                   {log: "\n", want: text("\n", false)},
		"B114 zero":                            {log: "0", want: text("0", false)},
		"B114 null":                            {log: "null", want: text("null", false)},
		"B107 4095 bytes":                      {log: a(4095), want: text(a(4095), false)},
		"B107 4096 bytes":                      {log: a(4096), want: text(a(4096), false)},
		"B107 4097 bytes":                      {log: a(4097), want: text(a(4097), false)},
		"B107 65535 bytes":                     {log: a(65535), want: text(a(65535), false)},
		"B107 65536 bytes":                     {log: a(65536), want: text(a(65536), false)},
		"B107 65537 bytes":                     {log: a(65537), want: text(a(65536), true)},
		"B112 300 KiB":                         {log: a(300 << 10), want: text(a(65536), true)},
		"B107 a MiB and a byte":                {log: a(1<<20 + 1), want: text(a(65536), true)},
		"I10 not UTF-8":                        {log: "\xff\xfe\x00\x80", want: binary("\xff\xfe\x00\x80", false)},
		"B109 half a character":                {log: "abc\xe7\x95", want: binary("abc\xe7\x95", false)},
		"B109 a lone surrogate":                {log: "\xed\xa0\x80", want: binary("\xed\xa0\x80", false)},
		"B109 a replacement character is text": {log: "\ufffd", want: text("\ufffd", false)},
		"B109 much that is not UTF-8":          {log: strings.Repeat("\xff", 1<<20), want: binary(strings.Repeat("\xff", 49152), true)},
		"not UTF-8 after what is kept":         {log: strings.Repeat("<", 20000) + strings.Repeat("\xff", 1<<20), want: binary(strings.Repeat("<", 20000)+strings.Repeat("\xff", 29152), true)},
		"I10 ANSI and CRLF":                    {log: "a line in \x1b[31mred\x1b[0m and more\r\n", want: text("a line in \x1b[31mred\x1b[0m and more\r\n", false)},
		"I16 quotes and backslashes":           {log: `"'\` + "\t$(X)", want: text(`"'\`+"\t$(X)", false)},
		"JSON":                                 {log: `{"a": ["<b>", 1]}`, want: text(`{"a": ["<b>", 1]}`, false)},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(short(tc.want), short(output.FromLog(head(tc.log), limit))); diff != "" {
				t.Errorf("FromLog (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTextIsCutAtTheEndOfACharacter(t *testing.T) {
	for _, character := range []string{"é", "界", "🙂"} {
		for offset := range len(character) {
			log := strings.Repeat("a", offset) + strings.Repeat(character, 40000)
			keep := offset + (limit-offset)/len(character)*len(character)
			got := output.FromLog(head(log), limit)
			if diff := cmp.Diff(short(text(log[:keep], true)), short(got)); diff != "" {
				t.Errorf("%s at offset %d (-want +got):\n%s", character, offset, diff)
			}
			if !utf8.ValidString(got.Output) {
				t.Errorf("%s at offset %d: the output is cut inside a character", character, offset)
			}
		}
	}
}

// JSON escapes some characters: what the object costs in the API is bounded,
// not what the tool wrote.
func TestEscapedCharactersCountAsWhatTheyCost(t *testing.T) {
	for name, tc := range map[string]struct {
		log  string
		want *v1alpha1.CallResult
	}{
		"line feeds that just fit":                        {log: strings.Repeat("\n", 32768), want: text(strings.Repeat("\n", 32768), false)},
		"a mix that is text, cut":                         {log: strings.Repeat("ab\n", 30000), want: text(strings.Repeat("ab\n", 16384), true)},
		"line feeds that don't fit":                       {log: strings.Repeat("\n", 40000), want: binary(strings.Repeat("\n", 40000), false)},
		"B109 NULs that don't fit":                        {log: strings.Repeat("\x00", 40000), want: binary(strings.Repeat("\x00", 40000), false)},
		"B109 NULs that would fit, and cost more as text": {log: strings.Repeat("\x00", 1000), want: binary(strings.Repeat("\x00", 1000), false)},
		"HTML": {log: strings.Repeat("<", 40000), want: binary(strings.Repeat("<", 40000), false)},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(short(tc.want), short(output.FromLog(head(tc.log), limit))); diff != "" {
				t.Errorf("FromLog (-want +got):\n%s", diff)
			}
		})
	}
}

// The kubelet keeps 4,096 bytes and does not say that there was more.
func TestATerminationMessageAsLongAsTheKubeletKeepsCountsAsCut(t *testing.T) {
	for name, tc := range map[string]struct {
		length        int
		wantTruncated bool
	}{
		"B107 4095 bytes": {length: 4095},
		"B107 4096 bytes": {length: 4096, wantTruncated: true},
		"one byte":        {length: 1},
	} {
		t.Run(name, func(t *testing.T) {
			message := strings.Repeat("a", tc.length)
			want := text(message, tc.wantTruncated)
			want.Source = v1alpha1.OutputTerminationMessage
			if diff := cmp.Diff(short(want), short(output.FromTerminationMessage(message, limit))); diff != "" {
				t.Errorf("FromTerminationMessage (-want +got):\n%s", diff)
			}
		})
	}
}

// The kubelet keeps the end of a longer message, from wherever that begins.
func TestATerminationMessageThatWasCutInsideACharacterStaysText(t *testing.T) {
	whole := strings.Repeat("界", 1365)
	for name, message := range map[string]string{
		"its first character was cut": "\x8c" + whole,
		"its last character was cut":  whole + "\xe7",
	} {
		t.Run(name, func(t *testing.T) {
			want := text(whole, true)
			want.Source = v1alpha1.OutputTerminationMessage
			if diff := cmp.Diff(short(want), short(output.FromTerminationMessage(message, limit))); diff != "" {
				t.Errorf("FromTerminationMessage (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnavailableOutputIsToldFromEmptyOutput(t *testing.T) {
	want := &v1alpha1.CallResult{Encoding: v1alpha1.EncodingUTF8, Source: v1alpha1.OutputUnavailable}
	if diff := cmp.Diff(want, output.Unavailable()); diff != "" {
		t.Errorf("Unavailable (-want +got):\n%s", diff)
	}
	if output.FromLog(nil, limit).Source == output.Unavailable().Source {
		t.Error("B114: an empty log has the source of one that could not be read")
	}
}
