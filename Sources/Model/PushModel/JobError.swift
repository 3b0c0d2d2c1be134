/// Why a job was refused, in words for the developer who sent it.
package struct JobError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The field at fault, such as `ttl` or `pushes[3].payload`; `job` for the job as a whole.
    package let field: String
    /// Where in the job's bytes.
    package let position: Int
    /// A sentence: what is wrong, and what is right.
    package let reason: String
    /// The job's id, if it could be read.
    package internal(set) var id: String?

    package init(field: String, position: Int, reason: String, id: String? = nil) {
        self.field = field
        self.position = position
        self.reason = reason
        self.id = id
    }

    package var description: String { "\(field): \(reason) (at byte \(position))" }
}
