import { Role } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";

export const MEMBERS = {
  title: "Members",
  email: "Email",
  search: "Part of an email address",
  role: "Role",
  roleHint:
    "Members read tools. Managers also change them and manage keys, endpoints and hooks. Admins also manage people.",
  sessions: "Open sessions",
  lastUsed: "Last seen",
  noAccess: "Only admins of the workspace can see and manage its members. Ask one of them, or for the role.",
  empty: "No members yet",
  emptyText: "Whoever has a role in the workspace is listed here.",
  invite: "Invite",
  inviteTitle: "Invite somebody",
  emailHint: "You get a link for this person. It is valid for 7 days and works once.",
  createLink: "Create link",
  invited: "Send this link to the person",
  invitedText:
    "Whoever has it can accept the invitation, so send it to nobody else. It is shown only now; Toolgate keeps only its hash.",
  link: "Link",
  invitations: "Invitations",
  expires: "Expires",
  by: "By",
  action: "Action",
  withdraw: "Withdraw",
  withdrawText: "The link that was sent stops working.",
  withdrawn: (email: string) => `The invitation of ${email} is withdrawn`,
  changeRole: "Change role",
  save: "Save",
  changed: (email: string, role: string) => `${email} has the role ${role}`,
  changeText: "It takes effect with the next click or call. Links that were made for or by this person stop working.",
  signOut: "End sessions",
  signOutTitle: (email: string) => `End all sessions of ${email}?`,
  signOutText: "Every browser and program of this person is logged out at once, and can log in again.",
  signedOut: (email: string) => `All sessions of ${email} have ended`,
  resetPassword: "Reset password",
  resetText: "You get a link by which this person chooses a new password. Until then the old one stays valid.",
  resetLink: "Send this link to the person",
  resetLinkText:
    "Whoever has it can log in as this person, so send it to nobody else. It is valid for 24 hours and works once. It is shown only now.",
  remove: "Remove",
  removeTitle: (email: string) => `Remove ${email}?`,
  removeText: "Their sessions end at once, and links that they made stop working. What they have built stays.",
  removed: (email: string) => `${email} is removed`,
  history: "What they did",
} as const;

export const ROLES: Readonly<Record<Role, string>> = {
  [Role.UNSPECIFIED]: "",
  [Role.MEMBER]: "Member",
  [Role.MANAGER]: "Manager",
  [Role.ADMIN]: "Admin",
};

export const ROLE_OPTIONS = [Role.MEMBER, Role.MANAGER, Role.ADMIN].map((role) => [String(role), ROLES[role]] as const);
