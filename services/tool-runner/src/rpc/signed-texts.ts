import { Code, ConnectError } from "@connectrpc/connect";
import type { KeyCaller, RunRequest, TestCaller } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import type { DescribeToolsRequest } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { GrantReader } from "@toolgate/service-host/identity/grant-token";
import type { PrincipalReader } from "@toolgate/service-host/identity/principal-token";

/** They read what key-auth has signed about who may run what, so that the gateway's word is not enough. */
export interface SignedTextReaders {
  grants: GrantReader;
  principals: PrincipalReader;
}

/** Throws unless key-auth has granted this key this tool, with the names that the run will use. */
export async function assertGranted(
  { grants }: Pick<SignedTextReaders, "grants">,
  { workspaceId, workspace, tool }: RunRequest,
  { keyId, keyName, toolListed, grant }: KeyCaller,
): Promise<void> {
  // Ends as unavailable, whatever is sent with it.
  if (!toolListed) return;
  const granted = grants.known(grant) ?? (await grants.read(grant));
  const isForThis =
    granted.workspaceId === workspaceId &&
    granted.keyId === keyId &&
    granted.tool === tool &&
    granted.workspace === workspace &&
    granted.keyName === keyName;
  if (!isForThis) throw new ConnectError("the grant is for another call", Code.PermissionDenied);
}

/** Throws unless an administrator of the workspace, whom the run will be ascribed to, has just asked for the test. */
export async function assertTester(
  { principals }: Pick<SignedTextReaders, "principals">,
  { workspaceId, workspace }: RunRequest,
  { callerId, principal }: TestCaller,
): Promise<void> {
  const user = principals.known(principal) ?? (await principals.read(principal));
  const mayTest =
    user.workspaceId === workspaceId &&
    user.workspace === workspace &&
    user.userId === callerId &&
    user.role === "admin";
  if (!mayTest) throw new ConnectError("the principal is for another test", Code.PermissionDenied);
}

/** Throws unless key-auth has just verified a key of the workspace. The gateway describes tools for keys alone. */
export async function assertDescribes(
  { grants }: Pick<SignedTextReaders, "grants">,
  { workspaceId, forAssistant, grant }: DescribeToolsRequest,
): Promise<void> {
  const granted = grants.known(grant) ?? (await grants.read(grant));
  if (forAssistant || granted.workspaceId !== workspaceId)
    throw new ConnectError("the grant is for another request", Code.PermissionDenied);
}
