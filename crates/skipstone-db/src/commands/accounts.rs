//! The table of accounts: its name and its totals.

use crate::dialect::Dialect;
use crate::error::{Failure, Outcome};
use crate::session::Session;
use crate::statements::AccountTable;

/// Where the accounts are.
pub(super) const ACCOUNTS: &str = "skipstone_accounts";

pub(super) fn table(dialect: Dialect) -> AccountTable {
    AccountTable::new(dialect, ACCOUNTS)
}

/// How many accounts there are, the first and the last number, and sums of score, rating and balance.
pub(super) async fn sums(session: &mut Session) -> Outcome<[i64; 6]> {
    let table = table(session.dialect());
    let numbers = session.numbers(&table.statement(&table.sums()), &[]).await?;
    numbers.try_into().map_err(|_| Failure::other("the database returned a wrong number of sums"))
}

/// The greatest number of an account; an error without any.
pub(super) async fn last_id(session: &mut Session) -> Outcome<i64> {
    match sums(session).await?[2] {
        0 => Err(Failure::other("there are no accounts: `add 50000` makes some")),
        last => Ok(last),
    }
}
