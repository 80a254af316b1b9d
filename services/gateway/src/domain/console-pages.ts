import type { MemberRole } from "@toolgate/service-host/principal";

interface Membership {
  workspace: string;
  role: MemberRole | undefined;
}

/** Pages that every member may see; all others need the role Manager or Admin. */
const FOR_MEMBERS = /^\/manage\/(?:(?:tools|assistants)(?:\/.*)?|chats|account)?$/;

/**
 * Whether a user may see the page at this target: with a role in the workspace that it names, otherwise in their first, which
 * the page then shows ([MGMT-4], [WMGMT-4]).
 */
export function pageAccess(target: string, memberships: readonly Membership[]): boolean {
  const { pathname, searchParams } = new URL(target, "http://page");
  const code = searchParams.get("workspace");
  const membership = code === null ? memberships[0] : memberships.find(({ workspace }) => workspace === code);
  if (!membership?.role) return false;
  return membership.role !== "member" || FOR_MEMBERS.test(pathname);
}
