import { useSession } from "../../rpc/use-session.ts";
import { ACCOUNT } from "../../text/en/account.ts";
import { Page } from "../../ui/page/page.tsx";
import { Part } from "../../ui/page/part.tsx";
import styles from "./account.module.css";
import { ChangePassword } from "./change-password.tsx";
import { OwnSessions } from "./own-sessions.tsx";

/** The user's own password and sessions, in whatever workspace. The sessions come later, so nothing stands below them. */
export function AccountPage() {
  const { email } = useSession();
  return (
    <Page title={ACCOUNT.title}>
      <div className={styles.parts}>
        <p>{email}</p>
        <Part title={ACCOUNT.password}>
          <div className={styles.form}>
            <ChangePassword />
          </div>
        </Part>
        <Part title={ACCOUNT.sessions}>
          <OwnSessions />
        </Part>
      </div>
    </Page>
  );
}
