fn main() {
    tilescope::app::run(None).unwrap();
}
