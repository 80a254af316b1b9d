import type { ConnectRouter } from "@connectrpc/connect";
import { AuditService } from "@toolgate/gen/toolgate/key_auth/v1/audit_pb";
import { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { WorkspaceService } from "@toolgate/gen/toolgate/key_auth/v1/workspace_pb";
import type { Context } from "../context.ts";
import { authorize } from "./authorize.ts";
import { changePassword } from "./change-password.ts";
import { createKey } from "./create-key.ts";
import { explainCall } from "./explain-call.ts";
import { getKey } from "./get-key.ts";
import { getKeySet } from "./get-key-set.ts";
import { getSession } from "./get-session.ts";
import { listAdminEmails } from "./list-admin-emails.ts";
import { listAuditEntries } from "./list-audit-entries.ts";
import { listKeyCalls } from "./list-key-calls.ts";
import { listKeys } from "./list-keys.ts";
import { login } from "./login.ts";
import { logout } from "./logout.ts";
import { revokeKey } from "./revoke-key.ts";
import { rotateKey } from "./rotate-key.ts";
import { updateKey } from "./update-key.ts";

export function registerRoutes(router: ConnectRouter, context: Context): void {
  router.service(SessionService, {
    login: (request, call) => login(context, request, call),
    logout: (request) => logout(context, request),
    changePassword: (request, call) => changePassword(context, request, call),
    getSession: (request) => getSession(context, request),
    getKeySet: () => getKeySet(context),
    authorize: (request) => authorize(context, request),
  });
  router.service(WorkspaceService, { listAdminEmails: (request) => listAdminEmails(context, request) });
  router.service(AuditService, {
    listAuditEntries: (request, call) => listAuditEntries(context, request, call),
  });
  router.service(KeyService, {
    createKey: (request, call) => createKey(context, request, call),
    listKeys: (request, call) => listKeys(context, request, call),
    getKey: (request, call) => getKey(context, request, call),
    updateKey: (request, call) => updateKey(context, request, call),
    revokeKey: (request, call) => revokeKey(context, request, call),
    rotateKey: (request, call) => rotateKey(context, request, call),
    explainCall: (request, call) => explainCall(context, request, call),
    listKeyCalls: (request, call) => listKeyCalls(context, request, call),
  });
}
