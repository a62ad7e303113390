package controllers

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// submissions remembers what this process wrote, for as long as the cache and
// the status may not show it yet: an object that was created and is gone must
// never be taken for one that is still to be created, and a patch that was sent
// is not sent again.
type submissions struct {
	mu   sync.Mutex
	uids map[types.NamespacedName]map[string]types.UID
}

func newSubmissions() *submissions {
	return &submissions{uids: map[types.NamespacedName]map[string]types.UID{}}
}

// add remembers that something was written for an owner: what it was, and the
// UID of the object that it holds for.
func (s *submissions) add(owner types.NamespacedName, uid types.UID, what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.uids[owner] == nil {
		s.uids[owner] = map[string]types.UID{}
	}
	s.uids[owner][what] = uid
}

func (s *submissions) has(owner types.NamespacedName, uid types.UID, what string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.uids[owner][what] == uid && uid != ""
}

// forget is called once the owner has ended or is gone.
func (s *submissions) forget(owner types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.uids, owner)
}
