use super::RunSpec;
pub fn command_line(_: &RunSpec) -> String {
    String::new()
}
