import { getRouteApi } from "@tanstack/react-router";
import { type Member, MemberService } from "@toolgate/gen/toolgate/key_auth/v1/member_pb";
import { useState } from "react";
import { useRole, useWorkspace } from "../../rpc/use-session.ts";
import { MEMBERS, ROLES } from "../../text/en/members.ts";
import { Button } from "../../ui/button.tsx";
import { type Column, ResourceList } from "../../ui/list/resource-list.tsx";
import { SearchField } from "../../ui/list/search-field.tsx";
import { useList } from "../../ui/list/use-list.ts";
import { useSetSearch } from "../../ui/list/use-set-search.ts";
import { Page } from "../../ui/page/page.tsx";
import { useShortcut } from "../../ui/shortcuts.ts";
import { Time } from "../../ui/time.tsx";
import { Invitations } from "./invitations.tsx";
import { InviteMember } from "./invite-member.tsx";
import { MemberPanel } from "./member-panel.tsx";

const route = getRouteApi("/shell/managed/members");

const COLUMNS: readonly Column<Member>[] = [
  { header: MEMBERS.role, width: "90px", render: ({ role }) => ROLES[role] },
  { header: MEMBERS.sessions, width: "110px", align: "end", render: ({ sessions }) => sessions },
  { header: MEMBERS.lastUsed, width: "100px", render: ({ lastUsedAt }) => <Time at={lastUsedAt} never="–" /> },
];

/** Who belongs to the workspace; for admins only. */
export function MembersPage() {
  if (useRole() === "admin") return <Members />;
  return (
    <Page title={MEMBERS.title}>
      <p>{MEMBERS.noAccess}</p>
    </Page>
  );
}

function Members() {
  const workspace = useWorkspace();
  const { open, at, search } = route.useSearch();
  const set = useSetSearch();
  const [isInviting, setInviting] = useState(false);
  useShortcut("c", () => setInviting(true));
  const list = useList(
    MemberService.method.listMembers,
    { workspace, search: search ?? "" },
    { rowsOf: (page) => page.members, keyOf: ({ userId }) => userId },
  );
  const opened = list.rows.find(({ userId }) => userId === open);
  const invite = (
    <Button kind="primary" onClick={() => setInviting(true)}>
      {MEMBERS.invite}
    </Button>
  );
  return (
    <Page
      title={MEMBERS.title}
      actions={invite}
      toolbar={
        <SearchField label={MEMBERS.search} value={search} onValue={(value) => set({ search: value, at: undefined })} />
      }
      panel={
        opened && (
          <MemberPanel key={open} of={opened} onClose={() => set({ open: undefined })} onChanged={list.refresh} />
        )
      }
    >
      <Invitations />
      <ResourceList
        label={MEMBERS.title}
        list={list}
        columns={COLUMNS}
        nameHeader={MEMBERS.email}
        nameOf={({ email }) => email}
        open={open}
        onOpen={(id) => set({ open: id })}
        empty={{ title: MEMBERS.empty, text: MEMBERS.emptyText, action: invite }}
        isFiltered={search !== undefined}
        onClearFilters={() => set({ search: undefined })}
        at={at}
        onAt={(first) => set({ at: first })}
      />
      {isInviting && <InviteMember onClose={() => setInviting(false)} />}
    </Page>
  );
}
