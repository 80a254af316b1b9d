import type { ConnectRouter } from "@connectrpc/connect";
import { AuditService } from "@toolgate/gen/toolgate/key_auth/v1/audit_pb";
import { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { WorkspaceService } from "@toolgate/gen/toolgate/key_auth/v1/workspace_pb";
import { bind } from "@toolgate/service-host/handler";
import type { Context } from "../context.ts";
import { listAuditEntries } from "./audit/list-audit-entries.ts";
import { createKey } from "./keys/create-key.ts";
import { explainCall } from "./keys/explain-call.ts";
import { getHourlyCounts } from "./keys/get-hourly-counts.ts";
import { getKey } from "./keys/get-key.ts";
import { getKeyOverview } from "./keys/get-key-overview.ts";
import { listKeyCalls } from "./keys/list-key-calls.ts";
import { listKeys } from "./keys/list-keys.ts";
import { revokeKey } from "./keys/revoke-key.ts";
import { rotateKey } from "./keys/rotate-key.ts";
import { updateKey } from "./keys/update-key.ts";
import { changePassword } from "./sessions/change-password.ts";
import { getKeySet } from "./sessions/get-key-set.ts";
import { getSession } from "./sessions/get-session.ts";
import { login } from "./sessions/login.ts";
import { logout } from "./sessions/logout.ts";
import { listAdminEmails } from "./workspaces/list-admin-emails.ts";

export function registerRoutes(router: ConnectRouter, context: Context): void {
  router.service(SessionService, bind(context, { login, logout, changePassword, getSession, getKeySet }));
  router.service(WorkspaceService, bind(context, { listAdminEmails }));
  router.service(AuditService, bind(context, { listAuditEntries }));
  router.service(
    KeyService,
    bind(context, {
      createKey,
      listKeys,
      getKey,
      updateKey,
      revokeKey,
      rotateKey,
      explainCall,
      listKeyCalls,
      getHourlyCounts,
      getKeyOverview,
    }),
  );
}
