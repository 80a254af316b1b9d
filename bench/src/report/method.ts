/** How the figures come about, for a reader of the results. */
export const METHOD = `## Method

- Every server is a process of its own. PostgreSQL, NATS and Redis run with the settings of a real installation (fsync,
  synchronous commit, append-only file); (c) and (d) have a set of their own each, (b) uses that of (c).
- The request is one and the same for all: \`POST\` with a key and \`{"args":{"text":"hello","count":3}}\`. (a) answers a
  constant without looking at it. (b) hashes the key, counts its minute in Redis, and finds the key and inserts the
  call's log row in one durable statement. (c) and (d) do all that a call asks for: authentication with epochs, limit,
  release check, argument validation, \`_api_key\`, a sandboxed \`export default async (args) => ({ success: true, args })\`,
  usage and execution log; the tool has no \`webhook_event\`.
- A key can have at most 10,000 calls a minute, less than one connection can make: 200 keys with that limit take turns.
- The variants take turns, round after round; figures are medians of the rounds. The rounds of throughput come first, so
  that the half load is half of the measured maximum.
- The generator is a process of its own on raw keep-alive sockets, without pipelining. Throughput is a closed loop. The
  half load is an open loop: calls are due at fixed times (every 0.5 ms, or more rarely at low rates), a call that finds
  no free connection waits, and latency runs from the due time, so no stall is left out (coordinated omission).
- CPU time is read from \`/proc/<pid>/stat\` over whole process trees, from the begin of a window until the last log line
  of its calls is in PostgreSQL. "Per CPU second" divides calls by the time of services, sandbox, PostgreSQL, NATS and
  Redis, without the generator. "CPU used by others" is what processes outside of the benchmark took, in processors.
- Memory: own pages of all processes of a group, and once the largest mapped or common part.
- Deliveries: a process publishes batches of events on \`events.bench\`, one message for each 5 ms, as the outbox relay of
  a service does. Each endpoint subscribes to a type of its own, so an event is one delivery. One process receives all
  webhooks over TLS with keep-alive and keeps the latency by the event's number. The full rate keeps a bounded backlog,
  for at least 10 s after a lead of 2 s. The default caps hold: 5 deliveries of a workspace and 2 of an endpoint at once.
- The hanging endpoints (every tenth, evenly over the workspaces) never answer; an attempt ends after 10 s. The first 12 s
  begin when they begin to hang, with no failure known of them.
- The backlog is made by the real fan-out: one workspace with ten endpoints, which all subscribe to one type, gets 20,500
  events. Its receivers answer after 200 ms, so it stays at its cap. The others' events are 100 ms apart, each for another
  workspace that was idle, so most of them open a new connection with a TLS handshake.
- Large tables: rows are made by SQL in the partitions that the services make, each vacuumed and analysed as autovacuum
  does; one workspace has four fifths of them, and within it few keys and endpoints most. A
  checkpoint ends the filling; nothing else is under way.
- The call stream's table is made by \`bench/call-stream.ts\`.`;
