import type { GroupCommit } from "@toolgate/event-bus/group-commit";
import type { UsageRecord } from "@toolgate/gen/toolgate/events/v1/records_pb";
import type { VerifyRequest, VerifyResponse } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import type { RunRequest, RunResponse } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import type { Logger } from "@toolgate/service-host/process/logger";
import type { DescriptionCache } from "./http/descriptions/description-cache.ts";
import type { GatewaySlots } from "./http/slots.ts";

/** What a call of a tool needs, over HTTP and over MCP. */
export interface CallContext {
  verify: (request: VerifyRequest) => Promise<VerifyResponse>;
  run: (request: RunRequest) => Promise<RunResponse>;
  usage: GroupCommit<UsageRecord>;
  slots: GatewaySlots;
  log: Logger;
  now: () => number;
}

/** What the routes of the key API need. */
export interface Context extends CallContext {
  descriptions: DescriptionCache;
  /** Where callers reach the gateway; "" means as each request was addressed. */
  publicUrl: string;
}
