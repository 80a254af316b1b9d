import { SHELL } from "../../text/en/shell.ts";

/** The logs that know the id of the HTTP request that caused an entry, each with the filter that finds it. */
export const REQUEST_PAGES = [
  { to: "/runs", label: SHELL.runsOfRequest, filter: "request" },
  { to: "/webhooks/deliveries", label: SHELL.deliveriesOfRequest, filter: "request" },
  { to: "/webhooks/calls", label: SHELL.hookCallsOfRequest, filter: "request_id" },
] as const;
