/// The Redis users that deploy/users.acl describes.
package enum RedisUsers {
    /// The text of deploy/users.acl, with this password for each user without a password.
    package static func text(_ password: String) throws -> String {
        try Repository.text(of: "deploy/users.acl").replacing("resetpass", with: ">" + password)
    }
}
