package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestInOrder(t *testing.T) {
	at := func(id, created string) Event {
		parsed, err := time.Parse(time.RFC3339, created)
		if err != nil {
			t.Fatal(err)
		}
		return Event{ID: id, Created: parsed}
	}
	events := []Event{
		at("third", "2026-09-21T14:13:20Z"),
		at("first", "2026-09-21T14:13:18Z"),
		at("second", "2026-09-21T14:13:18.5Z"),
	}
	var ids []string
	for _, event := range InOrder(events) {
		ids = append(ids, event.ID)
	}
	if got := strings.Join(ids, " "); got != "first second third" {
		t.Fatal(got)
	}
}

func TestInboxForgetsTheOldestAndRefusesWhenFull(t *testing.T) {
	inbox := &Inbox{}
	id := func(index int) string { return fmt.Sprintf("%08d-0000-4000-8000-000000000000", index) }
	for index := 0; index <= maxRemembered; index++ {
		if index%maxWaiting == 0 {
			inbox.Take()
		}
		if got := inbox.Accept(id(index), Event{}); got != 204 {
			t.Fatal(index, got)
		}
	}
	if len(inbox.known) != maxRemembered || inbox.known[id(0)] || !inbox.known[id(1)] {
		t.Fatal(len(inbox.known))
	}
	for index := 0; len(inbox.waiting) < maxWaiting; index++ {
		inbox.Accept(id(maxRemembered+1+index), Event{})
	}
	if got := inbox.Accept(id(999_999), Event{}); got != 503 {
		t.Fatal(got)
	}
}
