import type { Management } from "@toolgate/local/demo/management";
import { endpointId, FREQUENT_TYPE, MAIN_ENDPOINTS, RARE_TYPE } from "./fill-deliveries.ts";
import type { RequestCase } from "./measure-requests.ts";

type Filter = Record<string, unknown>;
type Dimension = { name: string; values: readonly Filter[] };

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Shares no factor with a number of combinations, so that the requests of a figure are spread over all of them. */
const STRIDE = 7_919;

/** First pages of the log: every combination of filters, the requests of each taking all values in turn. */
export function deliveryCases(
  manage: Management,
  { otherWorkspace, eventIds, now }: { otherWorkspace: string; eventIds: readonly string[]; now: Date },
): RequestCase[] {
  const send = async (filter: Filter) => {
    const rpc = "outbound_webhook.v1.DeliveryService/ListDeliveries";
    return (await manage<{ deliveries?: unknown[] }>(rpc, filter)).deliveries?.length ?? 0;
  };
  const dimensions = filterDimensions(now);
  const cases = Array.from({ length: 2 ** dimensions.length }, (_, chosen) => {
    const used = dimensions.filter((_, index) => (chosen & (2 ** index)) !== 0);
    const name = used.length === 0 ? "no filter" : used.map((dimension) => dimension.name).join(" + ");
    return { name, send: (n: number) => send(combination(used, n)) };
  });
  const event = (n: number) => ({ eventId: eventIds[n % eventIds.length] });
  return [
    ...cases,
    { name: "event", send: (n) => send(event(n)) },
    { name: "event + all others", send: (n) => send({ ...combination(dimensions, n), ...event(n) }) },
    { name: "no filter, a small workspace", send: () => send({ workspace: otherWorkspace }) },
    { name: "status, a small workspace", send: (n) => send({ ...statuses(n), workspace: otherWorkspace }) },
  ];
}

const STATUSES = ["FAILED", "CANCELLED", "RETRYING", "PENDING", "DELIVERED"];

function statuses(n: number): Filter {
  return { statuses: [`DELIVERY_STATUS_${STATUSES[n % STATUSES.length]}`] };
}

function filterDimensions(now: Date): Dimension[] {
  const ago = (ms: number) => new Date(now.getTime() - ms).toISOString();
  const endpoints = [1, MAIN_ENDPOINTS / 2, MAIN_ENDPOINTS];
  return [
    { name: "endpoint", values: endpoints.map((number) => ({ endpointId: String(endpointId(number)) })) },
    {
      name: "status",
      values: [
        ...STATUSES.map((_, index) => statuses(index)),
        { statuses: ["FAILED", "CANCELLED", "PENDING"].map((status) => `DELIVERY_STATUS_${status}`) },
      ],
    },
    { name: "type", values: [FREQUENT_TYPE, RARE_TYPE, "custom.*"].map((eventType) => ({ eventType })) },
    { name: "kind", values: ["EVENT", "TEST", "RESEND"].map((kind) => ({ kind: `DELIVERY_KIND_${kind}` })) },
    {
      name: "time",
      values: [
        { createdFrom: ago(HOUR_MS) },
        { createdFrom: ago(21 * DAY_MS), createdTo: ago(20 * DAY_MS) },
        { createdTo: ago(DAY_MS) },
      ],
    },
  ];
}

/** Combination number `n` of the values, in an order that visits all of them. */
export function combination(dimensions: readonly Dimension[], n: number): Filter {
  let rest = n * STRIDE;
  const filter: Filter = {};
  for (const { values } of dimensions) {
    Object.assign(filter, values[rest % values.length]);
    rest = Math.floor(rest / values.length);
  }
  return filter;
}
