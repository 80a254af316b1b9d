// Receives Toolgate's webhooks. Go 1.19 or newer, no packages:
//
//	WEBHOOK_SECRET=whsec_… PORT=3000 go run .
//
// Run it behind a proxy that terminates TLS. During a secret rotation, give both secrets, separated by a comma.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	tolerance      = 300 * time.Second
	maxBodyBytes   = 262_144
	maxRemembered  = 100_000
	maxWaiting     = 10_000
	workEvery      = 200 * time.Millisecond
	requestTimeout = 10 * time.Second
)

var (
	uuid      = regexp.MustCompile(`^(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	unixTime  = regexp.MustCompile(`^[0-9]{1,15}$`)
	signature = regexp.MustCompile(`^(?i)[0-9a-f]{64}$`)
)

// Event is the envelope. Unknown fields are ignored.
type Event struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Created   time.Time       `json:"created"`
	Workspace string          `json:"workspace"`
	Data      json.RawMessage `json:"data"`
}

// Verify reports whether one of the secrets signed rawBody (the exact bytes received) within five minutes of now. The
// key is the whole secret, including whsec_. If you use a Standard Webhooks library, verify the headers webhook-id,
// webhook-timestamp and webhook-signature instead of this one.
func Verify(secrets []string, header string, rawBody []byte, now time.Time) bool {
	var times []string
	var given [][]byte
	for _, part := range strings.Split(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch {
		case name == "t":
			times = append(times, value)
		case name == "v1" && signature.MatchString(value):
			decoded, _ := hex.DecodeString(value)
			given = append(given, decoded)
		}
	}
	if len(times) != 1 || !unixTime.MatchString(times[0]) {
		return false
	}
	seconds, _ := strconv.ParseInt(times[0], 10, 64)
	if age := now.Unix() - seconds; age > int64(tolerance.Seconds()) || age < -int64(tolerance.Seconds()) {
		return false
	}
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(times[0] + "."))
		mac.Write(rawBody)
		expected := mac.Sum(nil)
		for _, one := range given {
			if hmac.Equal(one, expected) {
				return true
			}
		}
	}
	return false
}

// InOrder sorts by the time of the event, because deliveries arrive in any order.
func InOrder(events []Event) []Event {
	sorted := append([]Event(nil), events...)
	sort.SliceStable(sorted, func(a, b int) bool { return sorted[a].Created.Before(sorted[b].Created) })
	return sorted
}

// Inbox holds the accepted events that wait to be processed, and the ids of earlier ones. Both are lost when the process
// stops: if no event may be lost or processed twice, store its id and the event in one database transaction before you
// respond.
type Inbox struct {
	OnceByEvent bool
	mutex       sync.Mutex
	known       map[string]bool
	oldest      []string
	waiting     []Event
}

// Accept takes a verified event and returns the HTTP status.
func (inbox *Inbox) Accept(delivery string, event Event) int {
	// A delivery keeps its id on every retry; a resend by hand has a new one and keeps the id of the event.
	key := delivery
	if inbox.OnceByEvent {
		key = event.ID
	}
	inbox.mutex.Lock()
	defer inbox.mutex.Unlock()
	if inbox.known[key] {
		fmt.Println("duplicate", delivery)
		return http.StatusNoContent
	}
	if len(inbox.waiting) >= maxWaiting {
		return http.StatusServiceUnavailable // Toolgate retries later
	}
	inbox.waiting = append(inbox.waiting, event)
	if inbox.known == nil {
		inbox.known = map[string]bool{}
	}
	inbox.known[key] = true
	inbox.oldest = append(inbox.oldest, key)
	if len(inbox.oldest) > maxRemembered {
		delete(inbox.known, inbox.oldest[0])
		inbox.oldest = inbox.oldest[1:]
	}
	fmt.Println("received", delivery, event.ID, event.Type)
	return http.StatusNoContent
}

// Take removes and returns the waiting events, oldest first.
func (inbox *Inbox) Take() []Event {
	inbox.mutex.Lock()
	defer inbox.mutex.Unlock()
	taken := inbox.waiting
	inbox.waiting = nil
	return InOrder(taken)
}

func handle(secrets []string, inbox *Inbox) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		response.WriteHeader(status(secrets, inbox, response, request))
	}
}

func status(secrets []string, inbox *Inbox, response http.ResponseWriter, request *http.Request) int {
	if request.Method != http.MethodPost {
		return http.StatusMethodNotAllowed
	}
	rawBody, err := io.ReadAll(http.MaxBytesReader(response, request.Body, maxBodyBytes))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return http.StatusRequestEntityTooLarge
	}
	if err != nil {
		return http.StatusBadRequest
	}
	if !Verify(secrets, request.Header.Get("X-Service-Signature"), rawBody, time.Now()) {
		return http.StatusUnauthorized
	}
	var event Event
	delivery := request.Header.Get("X-Service-Delivery")
	if json.Unmarshal(rawBody, &event) != nil || event.ID == "" || event.Type == "" || event.Created.IsZero() || !uuid.MatchString(delivery) {
		return http.StatusBadRequest
	}
	return inbox.Accept(delivery, event)
}

func work(inbox *Inbox) {
	for range time.Tick(workEvery) {
		for _, event := range inbox.Take() {
			fmt.Println("worked", event.ID) // your own processing, after the response
		}
	}
}

func setting(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}

func main() {
	secrets := strings.FieldsFunc(os.Getenv("WEBHOOK_SECRET"), func(char rune) bool { return char == ',' || char == ' ' })
	if len(secrets) == 0 {
		log.Fatal("WEBHOOK_SECRET is missing")
	}
	inbox := &Inbox{OnceByEvent: os.Getenv("ONCE_BY_EVENT") == "1"}
	go work(inbox)
	server := &http.Server{
		Handler:      handle(secrets, inbox),
		ReadTimeout:  requestTimeout,
		WriteTimeout: requestTimeout,
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(setting("HOST", "127.0.0.1"), setting("PORT", "3000")))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening")
	log.Fatal(server.Serve(listener))
}
