// Package controllers is the shell around the decisions: it reads the cluster,
// lets the pure packages decide, and carries the decision out. It is the only
// place that talks to the API server.
//
// Each reconciler has the same five verbs: gather (read), decide (pure), act
// (create, delete), project (decision onto status, pure) and write (one status
// write, then events and metrics).
package controllers
