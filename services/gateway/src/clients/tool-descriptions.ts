import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { type ApiDescription, type ToolDescription, ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";

/** Describes the tools that a key may call. The verdict must list them. Fails with `DescriptionTooLarge`. */
export type DescribeTools = (key: KeyVerdict) => Promise<Described>;

/** The tools of a key, and what the workspace says about them all. */
export interface Described {
  tools: ToolDescription[];
  about?: ApiDescription | undefined;
}

/** The tools of a key have more to describe than one document may. */
export class DescriptionTooLarge extends Error {}

const TIMEOUT_MS = 10_000;

export function createDescribeTools(toolRunner: Transport): DescribeTools {
  const client = createClient(ToolService, toolRunner);
  return async ({ workspaceId, workspaceEpoch, tools: names, grant }) => {
    const request = { workspaceId, workspaceEpoch, names, grant };
    return client.describeTools(request, { timeoutMs: TIMEOUT_MS }).catch((error: unknown) => {
      throw ConnectError.from(error).code === Code.FailedPrecondition ? new DescriptionTooLarge() : error;
    });
  };
}
