import { type Membership, Role } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";

/** Pages that every member may see; all others need the role Manager or Admin. */
const FOR_MEMBERS = /^\/manage\/(?:(?:tools|assistants)(?:\/.*)?|chats|account)?$/;

/**
 * Whether a user may see the page at this target: with a role in the workspace that it names, otherwise in their first, which
 * the page then shows ([MGMT-4], [WMGMT-4]).
 */
export function pageAccess(target: string, memberships: readonly Membership[]): boolean {
  const { pathname, searchParams } = new URL(target, "http://page");
  const code = searchParams.get("workspace");
  const { role } = memberships.find(({ workspace }) => code === null || workspace === code) ?? {};
  if (role === Role.MEMBER) return FOR_MEMBERS.test(pathname);
  return role === Role.MANAGER || role === Role.ADMIN;
}
