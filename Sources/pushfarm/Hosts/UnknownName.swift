import PushModel

/// The error messages for an unknown name.
enum UnknownName {
    /// The most similar known name, or all known names.
    static func advice(_ name: String, among known: [String]) -> String {
        if let nearest = NearestWord.find(name, among: known) { return "; did you mean \"\(nearest)\"?" }
        guard !known.isEmpty else { return "" }
        let rest = known.count > longestList ? " and \(known.count - longestList) more" : ""
        return "; it has " + known.prefix(longestList).joined(separator: ", ") + rest
    }

    /// The message for a name that could mean an app, a job or a host.
    /// - Parameters:
    ///   - hosts: the living hosts, or nil when the command takes no host.
    ///   - noJob: the text that says that no job has this name, and in which apps.
    static func subject(_ name: String, apps: [String], hosts: [String]?, noJob: String) -> String {
        let quoted = "\"\(PlainText.of(name, limit: 64))\""
        let others = hosts.map { _ in
            ", no living host \(PlainText.of(OperatorTarget(argument: name)?.host ?? name, limit: 64)),"
        }
        let nearest = NearestWord.find(name, among: apps + (hosts ?? []))
        return "there is no app \(quoted)\(others ?? ",") and \(noJob)"
            + (nearest.map { "; did you mean \"\($0)\"?" } ?? "")
    }

    private static let longestList = 20
}

extension CommandFailure {
    static func noApp(_ name: String, among known: [String]) -> CommandFailure {
        .usage(
            "there is no app \"\(PlainText.of(name, limit: 64))\" in this farm"
                + UnknownName.advice(name, among: known))
    }
}
