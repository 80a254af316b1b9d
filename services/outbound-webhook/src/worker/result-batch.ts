import { create, toBinary } from "@bufbuild/protobuf";
import { type AttemptResult, AttemptResultBatchSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";

export const RESULTS_PER_MESSAGE = 128;
export const REPORT_DEADLINE_MS = 20_000;
/** Bound for the other fields of a result. */
const RESULT_FRAME_BYTES = 400;
/** UTF-8 bytes per UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3;

export function encodeResults(results: AttemptResult[]): Uint8Array {
  return toBinary(AttemptResultBatchSchema, create(AttemptResultBatchSchema, { results }));
}

/** Bytes of a result as encoded, at most. */
export function sizeOfResult({ response, error }: AttemptResult): number {
  return RESULT_FRAME_BYTES + MAX_BYTES_PER_UNIT * (response.length + error.length);
}
