/// The format of a farm's data: the field `format` of ``FarmKeys/farm``, written by the farm's first coordinator.
///
/// Each release reads the format of its predecessor, too, because both run at once during an upgrade.
package enum DataFormat {
    /// What this release writes.
    package static let current = 1
    /// What this release reads.
    package static let readable = 1...current

    /// Whether this release reads data of which the field says this.
    package static func isReadable(_ text: String) -> Bool {
        Int(foreign: text).map { readable.contains($0) } ?? false
    }
}

/// Redis holds data in a format that this release does not read.
package struct UnreadableFormat: Error, Equatable, CustomStringConvertible {
    /// Nil: data of a release that wrote no format.
    package let format: String?
    package let openPushes: Int
    /// Jobs in the inboxes, and those that intake has not completely split.
    package let waitingJobs: Int

    package init(format: String?, openPushes: Int, waitingJobs: Int) {
        (self.format, self.openPushes, self.waitingJobs) = (format, openPushes, waitingJobs)
    }

    package var description: String {
        let found =
            format.map { "has format \(Self.plain($0))" } ?? "has no format: an older release wrote it"
        let readable = DataFormat.readable
        let known =
            readable.count == 1
            ? "\(readable.upperBound)" : "\(readable.lowerBound) to \(readable.upperBound)"
        let pushes = openPushes == 1 ? "1 open push" : "\(openPushes) open pushes"
        let jobs = waitingJobs == 1 ? "1 job that is not split" : "\(waitingJobs) jobs that are not split"
        return
            "the farm's data \(found), and this release reads format \(known). Found \(pushes) and \(jobs). "
            + "Let the release that wrote the data finish the open pushes, then delete the data; "
            + "see \"Format of the data\" in docs/redis.md"
    }

    /// The field is foreign text: only letters and digits of it are shown.
    private static func plain(_ text: String) -> String {
        "\"" + text.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }.prefix(20) + "\""
    }
}
