import { counter, gauge, histogram, observedCounter } from "./metrics.ts";

/**
 * Every metric of Toolgate. docs/observability.md says what each means; a test compares the two. No label may grow with
 * the number of customers: no workspace, key, tool or endpoint.
 */

/** Seconds; the longest run takes 60. */
const DURATIONS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 75];
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256];

export const httpDuration = histogram("toolgate_http_request_duration_seconds", DURATIONS);
export const rpcDuration = histogram("toolgate_rpc_duration_seconds", DURATIONS);

export const callStreamsOpened = counter("toolgate_call_streams_opened");
export const callStreamsLost = counter("toolgate_call_streams_lost");
export const callStreamBatch = histogram("toolgate_call_stream_batch_calls", BATCH_SIZES);
export const callStreamInFlight = gauge("toolgate_call_stream_calls_in_flight");

export const postgresConnections = gauge("toolgate_postgres_connections");
export const postgresWaiting = gauge("toolgate_postgres_waiting");

export const sandboxChildren = gauge("toolgate_sandbox_children");
export const sandboxRuns = gauge("toolgate_sandbox_runs");
export const sandboxChildrenEnded = counter("toolgate_sandbox_children_ended");

export const queueDue = gauge("toolgate_queue_due");
export const queueOldestDue = gauge("toolgate_queue_oldest_due_seconds");
export const deliveriesEnded = counter("toolgate_deliveries_ended");
export const hookRunsEnded = counter("toolgate_hook_runs_ended");
export const hookStartDelay = histogram("toolgate_hook_start_delay_seconds", DURATIONS);
export const attemptDuration = histogram("toolgate_attempt_duration_seconds", DURATIONS);

export const turnsRunning = gauge("toolgate_turns_running");
export const turnsEnded = counter("toolgate_turns_ended");
export const turnTakeovers = counter("toolgate_turn_takeovers");
export const turnFirstOutput = histogram("toolgate_turn_first_output_seconds", DURATIONS);
export const toolCalls = counter("toolgate_chat_tool_calls");
export const modelTokens = counter("toolgate_model_tokens");
export const modelErrors = counter("toolgate_model_errors");
export const chatEventGaps = counter("toolgate_chat_event_gaps");
export const chatStreams = gauge("toolgate_chat_streams");
export const chatStreamsEnded = counter("toolgate_chat_streams_ended");

export const consumerPending = gauge("toolgate_consumer_pending");
export const consumerUnacknowledged = gauge("toolgate_consumer_unacknowledged");
export const recordsWaiting = gauge("toolgate_records_waiting");

export const cacheLookups = counter("toolgate_cache_lookups");
export const epochsRead = counter("toolgate_epochs_read");
export const refusals = counter("toolgate_refusals");

export const cpuSeconds = observedCounter("process_cpu_seconds");
export const residentMemory = gauge("process_resident_memory_bytes");
