package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// checkTimeout bounds one question; a component that is held does not answer.
const checkTimeout = 2 * time.Second

// checkURL asks a health endpoint as the identity it lets in, if any.
func (c *Cluster) checkURL(url, authority, identity string) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, checkTimeout)
		defer cancel()
		transport, err := c.transport(authority, identity)
		if err != nil {
			return err
		}
		defer transport.CloseIdleConnections()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return fmt.Errorf("ask %s: %w", url, err)
		}
		response, err := transport.RoundTrip(request)
		if err != nil {
			return fmt.Errorf("ask %s: %w", url, err)
		}
		defer response.Body.Close() //nolint:errcheck // only read
		if response.StatusCode != http.StatusOK {
			answer, _ := io.ReadAll(io.LimitReader(response.Body, 4096)) // the status says enough
			return fmt.Errorf("%s answered %s: %s", url, response.Status, strings.TrimSpace(string(answer)))
		}
		return nil
	}
}

func (c *Cluster) transport(authority, identity string) (*http.Transport, error) {
	pem, err := os.ReadFile(c.certificate(authority))
	if err != nil {
		return nil, fmt.Errorf("read the authority %s: %w", authority, err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	pair, err := tls.LoadX509KeyPair(c.certificate(identity), c.key(identity))
	if err != nil {
		return nil, fmt.Errorf("load the identity %s: %w", identity, err)
	}
	return &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12,
	}}, nil
}

// checkContainerd asks through the client, which also proves that both match.
func (c *Cluster) checkContainerd(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	_, err := c.ctr(ctx, "version")
	return err
}
