package pki

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func issue(t *testing.T, a Authority, s Subject, now time.Time) (*x509.Certificate, Pair) {
	t.Helper()
	pair, err := a.Issue(s, now)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(pair.Certificate)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return certificate, pair
}

func newAuthority(t *testing.T, now time.Time) (Authority, *x509.CertPool) {
	t.Helper()
	authority, err := NewAuthority("test", now)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority.Certificate) {
		t.Fatal("the authority has no certificate")
	}
	return authority, roots
}

// asClient asks whether a certificate is good for a client.
func asClient(roots *x509.CertPool) x509.VerifyOptions {
	return x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
}

func TestServerCertificate(t *testing.T) {
	now := time.Now()
	authority, roots := newAuthority(t, now)
	server, pair := issue(t, authority, Subject{Name: "server", Hosts: []string{"localhost", "127.0.0.1"}}, now)
	if _, err := tls.X509KeyPair(pair.Certificate, pair.Key); err != nil {
		t.Errorf("certificate and key don't match: %v", err)
	}
	for _, host := range []string{"localhost", "127.0.0.1"} {
		if _, err := server.Verify(x509.VerifyOptions{Roots: roots, DNSName: host}); err != nil {
			t.Errorf("not good for %s: %v", host, err)
		}
	}
	if _, err := server.Verify(asClient(roots)); err == nil {
		t.Error("a server's certificate is good for a client")
	}
}

func TestClientCertificate(t *testing.T) {
	now := time.Now()
	authority, roots := newAuthority(t, now)
	client, _ := issue(t, authority, Subject{Name: "alice", Group: "admins", Client: true}, now)
	if _, err := client.Verify(asClient(roots)); err != nil {
		t.Errorf("not good for a client: %v", err)
	}
	if client.Subject.CommonName != "alice" || client.Subject.Organization[0] != "admins" {
		t.Errorf("the client is %s", client.Subject)
	}
	other, _ := newAuthority(t, now)
	stranger, _ := issue(t, other, Subject{Name: "alice", Client: true}, now)
	if _, err := stranger.Verify(asClient(roots)); err == nil {
		t.Error("another authority's certificate is accepted")
	}
}

func TestKeysAreForTheOwnerOnly(t *testing.T) {
	pair, err := NewKeyPair()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := pair.Write(dir, "service-account", ".pub"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "service-account.key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key's file: %v, error %v", info, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "service-account.pub")); err != nil {
		t.Error(err)
	}
}
