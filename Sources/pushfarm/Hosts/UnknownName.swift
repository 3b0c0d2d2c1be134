import PushModel

/// What to say of a name that nothing has.
enum UnknownName {
    /// The name that was most likely meant, or all that there are.
    static func advice(_ name: String, among known: [String]) -> String {
        if let nearest = NearestWord.find(name, among: known) { return "; did you mean \"\(nearest)\"?" }
        guard !known.isEmpty else { return "" }
        let rest = known.count > longestList ? " and \(known.count - longestList) more" : ""
        return "; it has " + known.prefix(longestList).joined(separator: ", ") + rest
    }

    /// What stands where an app, a job and perhaps a host is taken.
    /// - Parameters:
    ///   - hosts: those that live; nil where none is taken.
    ///   - noJob: that there is no such job, and where.
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
