export const AUDIT = {
  title: "Audit",
  noAccess: "Only admins of the workspace can see who changed what. Ask one of them, or for the role.",
  anyAction: "Any action",
  search: "Id or name of an object",
  action: "Action",
  who: "Who",
  when: "When",
  empty: "Nothing has been changed yet",
  emptyText: "Each change to the workspace and each login is listed here for two years.",
  target: "Object",
  id: "Id",
  changes: "Changes",
  field: "Field",
  before: "Before",
  after: "After",
  nothing: "none",
  changed: "changed",
  noChanges: "This entry names no fields.",
  onlyNames: "Of this kind of object only the names of the changed fields are kept.",
  history: "All entries about it",
  openObject: "Open it",
  operator: "An operator",
} as const;

/** What somebody did; the name of the object follows. */
export const ACTIONS: Readonly<Record<string, string>> = {
  "key.create": "Created the API key",
  "key.edit": "Edited the API key",
  "key.edit_refused": "Tried to edit the revoked API key",
  "key.rotate": "Rotated the API key",
  "key.revoke": "Revoked the API key",
  "login.success": "Logged in",
  "login.failure": "Failed to log in",
  "password.change": "Changed the own password",
  "password.reset": "Reset the password of",
  "role.set": "Set the role of",
  "role.remove": "Removed the role of",
  "workspace.create": "Created the workspace",
  "workspace.lock": "Locked the workspace",
  "workspace.unlock": "Unlocked the workspace",
  "tool.create": "Created the tool",
  "tool.edit": "Edited the tool",
  "tool.restore": "Restored an earlier version of the tool",
  "tool.delete": "Deleted the tool",
  "tool.expose": "Exposed the tool",
  "secret.save": "Saved the secret",
  "secret.delete": "Deleted the secret",
  "variable.save": "Saved the variable",
  "variable.delete": "Deleted the variable",
  "query.save": "Saved the query",
  "query.delete": "Deleted the query",
  "data_source.set": "Set the database",
  "sheet.delete": "Deleted the sheet",
  "endpoint.create": "Created the endpoint",
  "endpoint.edit": "Edited the endpoint",
  "endpoint.activate": "Activated the endpoint",
  "endpoint.deactivate": "Deactivated the endpoint",
  "endpoint.rotate": "Rotated the secret of the endpoint",
  "endpoint.delete": "Deleted the endpoint",
  "replay.start": "Started the replay",
  "replay.cancel": "Cancelled the replay",
  "hook.create": "Created the hook",
  "hook.edit": "Edited the hook",
  "hook.activate": "Activated the hook",
  "hook.deactivate": "Deactivated the hook",
  "hook.rotate": "Rotated the secret of the hook",
  "hook.delete": "Deleted the hook",
  "hook.reprocess": "Re-processed a delivery of the hook",
};

/** What users do with their own accounts: the object is who did it. */
const OWN: ReadonlySet<string> = new Set(["login.success", "login.failure", "password.change"]);

/** "Revoked the API key Acme". An action that this page does not know yet keeps its code. */
export function whatHappened({ action, target }: { action: string; target: string }): string {
  const what = ACTIONS[action] ?? action;
  return OWN.has(action) ? what : `${what} ${target}`.trim();
}
