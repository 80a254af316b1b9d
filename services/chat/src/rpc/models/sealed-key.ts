import { Code, ConnectError } from "@connectrpc/connect";
import type { Context } from "../../context.ts";
import { apiKeyContext } from "../../domain/model-server.ts";
import type { ModelServer } from "../../store/model-servers.ts";

/**
 * The key of a model, sealed: the given one, or the stored one when none is given. A stored key is sent only to the server that
 * it was given for, so that nobody can have it sent to a server of their own.
 */
export function sealedKey(
  { secretBox }: Pick<Context, "secretBox">,
  workspaceId: string,
  { name, baseUrl }: Pick<ModelServer, "name" | "baseUrl">,
  before: ModelServer | undefined,
  apiKey: string | undefined,
): Buffer | null {
  if (apiKey === "") return null;
  if (apiKey !== undefined) return secretBox.seal(apiKey, apiKeyContext(workspaceId, name));
  if (!before?.apiKey) return null;
  if (new URL(before.baseUrl).origin !== new URL(baseUrl).origin)
    throw new ConnectError("api_key: needed, because base_url names another server", Code.InvalidArgument);
  return before.apiKey;
}
