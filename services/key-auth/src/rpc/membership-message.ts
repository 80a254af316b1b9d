import { Role } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import type { MembershipRow, RoleName } from "../store/users.ts";

export const ROLE: Record<RoleName, Role> = { member: Role.MEMBER, manager: Role.MANAGER, admin: Role.ADMIN };

export function membershipMessage({ workspace, role }: MembershipRow) {
  return { workspace, role: ROLE[role] };
}
