import FarmHarness

extension Farm {
    /// The environment with these failpoint rules. Each process that a failpoint makes fail leaves a file in `marks`.
    static func failpoints(_ rules: [String], marks: TestFolder) -> [String: String] {
        ["PUSHFARM_FAILPOINTS": rules.joined(separator: ","), "PUSHFARM_FAILPOINTS_FOLDER": marks.path]
    }
}
