extension PushOptions {
    /// The value of a job's field.
    package enum FieldValue: Hashable, Sendable {
        case text(String)
        case number(Int64)
    }

    /// The options as fields of a job.
    ///
    /// - Parameter ttl: the time to live in seconds from now, which replaces the expiration.
    package func jobFields(ttl: Int? = nil) -> [(name: String, value: FieldValue)] {
        var fields: [(name: String, value: FieldValue)] = [
            ("push_type", .text(pushType.name)), ("priority", .number(Int64(priority))),
            ("receipts", .text(receipts.name)), ("delivery", .text(delivery.name)),
            ("max_attempts", .number(Int64(maxAttempts))),
        ]
        if expiration == 0 {
            fields.append(("ttl", .number(0)))
        } else if let ttl {
            fields.append(("ttl", .number(Int64(ttl))))
        } else if let expiration {
            fields.append(("expires_at", .number(expiration)))
        }
        if let collapseID { fields.append(("collapse_id", .text(collapseID))) }
        if let topic { fields.append(("topic", .text(topic))) }
        if let registeredAt { fields.append(("registered_at", .number(registeredAt))) }
        if isStored { fields.append(("stored", .number(1))) }
        return fields
    }
}
