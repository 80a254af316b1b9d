import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ReplaySelection } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import * as v from "valibot";

const MAX_RATE = 100;
const RATE_TEXT = `Enter a whole number from 1 to ${MAX_RATE}.`;

/** What the form of a replay begins with; times are ISO times. */
export interface ReplayStart {
  endpoint?: string | undefined;
  types?: readonly string[];
  from?: string | undefined;
  to?: string | undefined;
}

/** The form of a replay; times are local, as the inputs have them. */
export const ReplayForm = v.object({
  endpoint_id: v.pipe(v.string(), v.nonEmpty("Choose an endpoint.")),
  selection: v.pipe(v.string(), v.transform(Number)),
  from: v.pipe(v.string(), v.nonEmpty("Enter a time.")),
  to: v.string(),
  types: v.array(v.string()),
  rate_per_second: v.pipe(
    v.string(),
    v.regex(/^[0-9]+$/, RATE_TEXT),
    v.transform(Number),
    v.minValue(1, RATE_TEXT),
    v.maxValue(MAX_RATE, RATE_TEXT),
  ),
});

export type ReplayValues = v.InferOutput<typeof ReplayForm>;

/** What is previewed is exactly what is started. */
export interface ReplayRequest {
  workspace: string;
  endpointId: bigint;
  ratePerSecond: number;
  range: { from: Timestamp; to: Timestamp; types: string[]; selection: ReplaySelection };
}

export function requestOf(workspace: string, values: ReplayValues): ReplayRequest {
  return {
    workspace,
    endpointId: BigInt(values.endpoint_id),
    ratePerSecond: values.rate_per_second,
    range: {
      from: timestampFromDate(new Date(values.from)),
      // Fixed now: events that arrive after the preview are not part of it.
      to: timestampFromDate(values.to === "" ? new Date() : new Date(values.to)),
      types: values.types,
      selection: values.selection,
    },
  };
}
