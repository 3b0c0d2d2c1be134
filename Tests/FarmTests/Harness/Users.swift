import FarmHarness
import Foundation

/// The users that deploy/users.acl describes.
enum Users {
    private static let root = Repository.root

    /// The file with a password for each user that has none.
    static func text(_ password: String) throws -> String {
        let file = root.appendingPathComponent("deploy/users.acl")
        return try String(contentsOf: file, encoding: .utf8)
            .replacingOccurrences(of: "resetpass", with: ">" + password)
    }
}
