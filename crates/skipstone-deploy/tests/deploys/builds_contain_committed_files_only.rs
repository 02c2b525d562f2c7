//! Concurrent builds, each in a clean clone, while the work tree changes.

use crate::yard::{Yard, next_second, until_there};
use std::fs;

#[test]
fn two_concurrent_builds_ignore_changes_of_the_work_tree() {
    let Some(yard) = Yard::new() else { return };
    let meeting = yard.path("meeting");
    fs::create_dir_all(&meeting).expect("a folder");
    // Each waits for the other: one after the other they would never end.
    let build = |name: &str, other: &str| {
        let meeting = meeting.display();
        format!(
            "[build.{name}]\nartifacts = [\"{name}.txt\"]\ncommand = \"\"\"touch {meeting}/{name}\n\
             i=0; while [ ! -e {meeting}/{other} ] || [ ! -e {meeting}/go ]; do i=$((i+1)); [ $i -lt 400 ] || exit 7; \
             sleep 0.05; done\n\
             cat input > {name}.txt; [ ! -e scratch ]\"\"\"\n"
        )
    };
    yard.commit(&[("input", "committed")]);
    yard.plan(
        &(build("a", "b") + &build("b", "a")),
        "restart = \"true\"\nhealth = { command = \"true\", settle = \"1ms\" }",
    );
    let deploying = {
        let mut deployer = yard.deployer();
        deployer.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        deployer.spawn().expect("the tool starts")
    };
    ["a", "b"].iter().for_each(|name| until_there(&meeting.join(name)));
    fs::write(yard.repository().join("input"), "changed meanwhile").expect("written");
    fs::write(yard.repository().join("scratch"), "").expect("written");
    fs::write(meeting.join("go"), "").expect("written");
    let done = deploying.wait_with_output().expect("it ends");
    assert!(done.status.success(), "{}", crate::yard::text(&done));
    for name in ["a.txt", "b.txt"] {
        assert_eq!(fs::read_to_string(yard.site().join("current").join(name)).expect("it is there"), "committed");
    }
    let left_in = |folder: &str| fs::read_dir(yard.path("game-deploy").join(folder)).expect("it was made").count();
    assert_eq!((left_in("logs"), left_in("clones"), left_in("uploads")), (2, 0, 0), "logs stay");
    next_second();
    let said = yard.deploy_well(&[]);
    assert!(said.contains("1 changed files are not committed"), "{said}");
    assert_eq!(fs::read_to_string(yard.site().join("current/a.txt")).expect("it is there"), "committed");
}
