import { Link, lazyRouteComponent, Outlet } from "@tanstack/react-router";
import { Suspense, useState } from "react";
import { logOut } from "../../rpc/session.ts";
import { useCanManage, useSession, useSessionEnded, useWorkspace } from "../../rpc/use-session.ts";
import { SHELL } from "../../text/en/shell.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { Toasts } from "../../ui/dialog/toast.tsx";
import { Select } from "../../ui/form/input.tsx";
import { Icon } from "../../ui/icon.tsx";
import { useShortcut } from "../../ui/shortcuts.ts";
import { LoginForm } from "../login/login.tsx";
import { PAGES } from "./pages.ts";
import styles from "./shell.module.css";

const Palette = lazyRouteComponent(() => import("./palette.tsx"));
const Keyboard = lazyRouteComponent(() => import("./keyboard.tsx"));

function WorkspaceChoice() {
  const { memberships } = useSession();
  const workspace = useWorkspace();
  if (memberships.length < 2) return <strong className={styles.workspace}>{workspace}</strong>;
  const options = memberships.map((membership) => [membership.workspace, membership.workspace] as const);
  // A load of its own: nothing of the other workspace stays in memory.
  const choose = (code: string) => location.assign(`/manage/?workspace=${encodeURIComponent(code)}`);
  return <Select aria-label={SHELL.workspace} options={options} value={workspace} onValue={choose} />;
}

export function Shell() {
  const session = useSession();
  const hasEnded = useSessionEnded();
  const canManage = useCanManage();
  const [opened, setOpened] = useState<"palette" | "keyboard" | "menu">();
  useShortcut("mod+k", () => setOpened("palette"));
  useShortcut("?", () => setOpened("keyboard"));
  const close = () => setOpened(undefined);
  return (
    <div className={styles.shell}>
      <a href="#content" className={styles.skip}>
        {SHELL.skip}
      </a>
      <header className={styles.bar}>
        <Button
          kind="quiet"
          aria-label={SHELL.menu}
          aria-expanded={opened === "menu"}
          onClick={() => setOpened("menu")}
        >
          <Icon name="menu" />
        </Button>
        <strong>Toolgate</strong>
      </header>
      <nav className={styles.nav} aria-label={SHELL.navigation} data-open={opened === "menu"} onClick={close}>
        <div className={styles.brand}>Toolgate</div>
        <WorkspaceChoice />
        <Button
          onClick={(event) => {
            event.stopPropagation();
            setOpened("palette");
          }}
        >
          <Icon name="search" />
          {SHELL.find}
          <kbd className={styles.key}>Ctrl K</kbd>
        </Button>
        {PAGES.map((group) => (
          <ul key={group[0]?.to} className={styles.group}>
            {group
              .filter(({ forMembers }) => canManage || forMembers)
              .map(({ to, label, icon }) => (
                <li key={to}>
                  <Link to={to} activeOptions={{ exact: true, includeSearch: false }} className={styles.link}>
                    <Icon name={icon} />
                    {label}
                  </Link>
                </li>
              ))}
          </ul>
        ))}
        <div className={styles.user}>
          <Link to="/account" aria-label={`${SHELL.account}: ${session.email}`}>
            {session.email}
          </Link>
          <Button kind="quiet" onClick={() => void logOut()}>
            {SHELL.logOut}
          </Button>
        </div>
      </nav>
      <main id="content" className={styles.main} tabIndex={-1}>
        <Outlet />
      </main>
      <Toasts />
      <Suspense>
        {opened === "palette" && <Palette onClose={close} />}
        {opened === "keyboard" && <Keyboard onClose={close} />}
      </Suspense>
      {hasEnded && (
        <Dialog title={SHELL.sessionEnded} description={SHELL.sessionEndedText} onClose={() => {}}>
          <LoginForm email={session.email} onDone={() => {}} />
        </Dialog>
      )}
    </div>
  );
}
