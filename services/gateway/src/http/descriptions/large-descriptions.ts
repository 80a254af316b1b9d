import type { ServerResponse } from "node:http";
import { ShareExceeded } from "@toolgate/workspace-share/turn";
import { DescriptionTooLarge } from "../../clients/tool-descriptions.ts";
import { type ApiResponse, DESCRIPTION_TOO_LARGE } from "../../domain/responses.ts";
import { refusalOfShare, type WorkspaceTurns, whenClosed } from "../workspace-turns.ts";

/** The result of a tool is never larger. */
const LARGE_BYTES = 1024 * 1024;

/**
 * Waits for the workspace's turn to send a large description, which stays in memory until its client has read it. The turn
 * ends when the response has been sent. Rejects with `ShareExceeded`, also when the client has left.
 */
export async function takeTurnToSend(
  { largeDescriptions }: WorkspaceTurns,
  workspaceId: string,
  description: Buffer,
  response: ServerResponse,
): Promise<void> {
  if (description.byteLength <= LARGE_BYTES) return;
  const turn = await largeDescriptions.begin(workspaceId, 0, () => whenClosed(response));
  const end = () => turn[Symbol.dispose]();
  if (response.closed) end();
  else response.once("close", end);
}

/** The response to a request whose description is not made or not sent; undefined for an unexpected error. */
export function refusalOfDescription(error: unknown, response: ServerResponse): ApiResponse | undefined {
  if (error instanceof DescriptionTooLarge) return DESCRIPTION_TOO_LARGE;
  return error instanceof ShareExceeded ? refusalOfShare(error, response) : undefined;
}
