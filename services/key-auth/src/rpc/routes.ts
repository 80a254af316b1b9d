import type { ConnectRouter } from "@connectrpc/connect";
import { AuditService } from "@toolgate/gen/toolgate/key_auth/v1/audit_pb";
import { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { MemberService } from "@toolgate/gen/toolgate/key_auth/v1/member_pb";
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
import { acceptInvitation } from "./members/accept-invitation.ts";
import { changeRole } from "./members/change-role.ts";
import { createInvitation } from "./members/create-invitation.ts";
import { createPasswordLink } from "./members/create-password-link.ts";
import { endMemberSessions } from "./members/end-member-sessions.ts";
import { getInvitation } from "./members/get-invitation.ts";
import { listInvitations } from "./members/list-invitations.ts";
import { listMembers } from "./members/list-members.ts";
import { removeMember } from "./members/remove-member.ts";
import { resetPassword } from "./members/reset-password.ts";
import { withdrawInvitation } from "./members/withdraw-invitation.ts";
import { changePassword } from "./sessions/change-password.ts";
import { endOtherSessions } from "./sessions/end-other-sessions.ts";
import { endSession } from "./sessions/end-session.ts";
import { getKeySet } from "./sessions/get-key-set.ts";
import { getSession } from "./sessions/get-session.ts";
import { listSessions } from "./sessions/list-sessions.ts";
import { login } from "./sessions/login.ts";
import { logout } from "./sessions/logout.ts";
import { listAdminEmails } from "./workspaces/list-admin-emails.ts";

export function registerRoutes(router: ConnectRouter, context: Context): void {
  router.service(
    SessionService,
    bind(context, { login, logout, changePassword, getSession, listSessions, endSession, endOtherSessions, getKeySet }),
  );
  router.service(
    MemberService,
    bind(context, {
      acceptInvitation,
      changeRole,
      createInvitation,
      createPasswordLink,
      endMemberSessions,
      getInvitation,
      listInvitations,
      listMembers,
      removeMember,
      resetPassword,
      withdrawInvitation,
    }),
  );
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
