import PushModel

/// The job that sends dead letters again, as a producer would write it.
struct ReplayJob {
    let group: ReplayGroup
    let id: String
    let lane: Lane
    /// Time to live in seconds from now on, instead of the old job's.
    let ttl: Int?

    /// Characters of an id, as the contract has it.
    private static let idLength = 64
    private static let idBytes = 255

    /// `OLD.rN`; of an old id that is too long for that its beginning, and a number that stands for all of it.
    static func id(replaying old: String, number: Int) -> String {
        let suffix = ".r\(number)"
        let whole = old + suffix
        if whole.unicodeScalars.count <= idLength, whole.utf8.count <= idBytes { return whole }
        let digits = String(XXH64.hash(Array(old.utf8), seed: 3), radix: 16)
        var start = ""
        for scalar in old.unicodeScalars.prefix(idLength - 17 - suffix.count) {
            guard start.utf8.count + 4 <= idBytes - 17 - suffix.count else { break }
            start.unicodeScalars.append(scalar)
        }
        return start + "~" + digits + suffix
    }

    var text: [UInt8] {
        var text = JSONText(capacity: group.bytes)
        text.object { text in
            text.member("id", id)
            text.member("replay_of", group.key.job)
            for (name, value) in fields {
                text.key(name)
                value.append(to: &text)
            }
            if group.key.hasPayloadPerPush {
                text.key("pushes")
                text.array { text in
                    for push in group.pushes {
                        text.object {
                            $0.member("token", Hexadecimal.text(of: push.token))
                            $0.member("payload", json: push.payload)
                        }
                    }
                }
            } else {
                text.key("tokens")
                text.array { text in
                    for push in group.pushes { text.value(Hexadecimal.text(of: push.token)) }
                }
                text.member("payload", json: group.key.payload)
            }
        }
        return text.bytes
    }

    private var fields: [(name: String, value: JSONValue)] {
        Self.fields(of: group.key.options, ttl: ttl) + [("lane", .string(lane.name))]
    }

    /// The options in the contract's words.
    static func fields(of options: PushOptions, ttl: Int? = nil) -> [(name: String, value: JSONValue)] {
        var fields: [(name: String, value: JSONValue)] = [
            ("push_type", .string(options.pushType.name)), ("priority", .number(Int(options.priority))),
            ("receipts", .string(options.receipts.name)), ("delivery", .string(options.delivery.name)),
            ("max_attempts", .number(Int(options.maxAttempts))),
        ]
        if options.expiration == 0 {
            fields.append(("ttl", .number(0)))
        } else if let ttl {
            fields.append(("ttl", .number(ttl)))
        } else if let expiration = options.expiration {
            fields.append(("expires_at", .number(expiration)))
        }
        if let collapseID = options.collapseID { fields.append(("collapse_id", .string(collapseID))) }
        if let topic = options.topic { fields.append(("topic", .string(topic))) }
        if let moment = options.registeredAt { fields.append(("registered_at", .number(moment))) }
        return fields
    }
}
