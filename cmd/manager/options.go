package main

import (
	"flag"
	"time"
)

// The lease is short, so that another replica takes over soon: nobody enforces
// a deadline to the millisecond in between.
const (
	leaseDuration = 6 * time.Second
	renewDeadline = 4 * time.Second
	retryPeriod   = time.Second
)

// shutdownTimeout is how long work in hand may take to end after a signal.
const shutdownTimeout = 5 * time.Second

type options struct {
	metricsAddress  string
	metricsSecure   bool
	probeAddress    string
	leaderElect     bool
	leaderNamespace string
	workers         int
}

func defaults() options {
	return options{
		metricsAddress: ":8443",
		metricsSecure:  true,
		probeAddress:   ":8081",
		leaderElect:    true,
		workers:        32,
	}
}

func (o *options) bind(flags *flag.FlagSet) {
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", o.metricsAddress,
		"Address of the metrics endpoint; 0 turns it off.")
	flags.BoolVar(&o.metricsSecure, "metrics-secure", o.metricsSecure,
		"Serve metrics over HTTPS, to clients that the API server authenticates and authorizes.")
	flags.StringVar(&o.probeAddress, "health-probe-bind-address", o.probeAddress,
		"Address of the /healthz and /readyz endpoints.")
	flags.BoolVar(&o.leaderElect, "leader-elect", o.leaderElect,
		"Let only one of several replicas act at a time.")
	flags.StringVar(&o.leaderNamespace, "leader-elect-namespace", o.leaderNamespace,
		"Namespace of the lease. Default: the namespace that the manager runs in.")
	flags.IntVar(&o.workers, "workers", o.workers,
		"Number of calls, batches and releases that are worked on at once, each.")
}
