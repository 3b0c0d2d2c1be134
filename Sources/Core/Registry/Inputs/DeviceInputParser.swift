import PushModel

/// What a device input may contain beyond the form of its values.
package struct DeviceInputRules: Sendable {
    /// The environment of an address for which the input names no environment.
    package var environment: DeviceAddress.Environment
    /// Whether a time zone exists. The argument always has the form of a zone's name, but a zone with this name may not
    /// exist.
    package var hasZone: @Sendable (String) -> Bool

    /// The maximum number of tags in one list of a device input.
    package static let mostTags = 200
    /// The maximum size of a device input, in bytes.
    package static let mostBytes = 65_536

    package init(
        environment: DeviceAddress.Environment = .production,
        hasZone: @escaping @Sendable (String) -> Bool = { _ in true }
    ) {
        (self.environment, self.hasZone) = (environment, hasZone)
    }
}

/// Parses an entry of the list of device inputs strictly.
///
/// An entry has one of five forms. `{"id", "token", …}` or `{"id", "addresses": […], …}` registers or replaces a
/// device. `{"id", "remove": true}` removes a device. `{"id", "add_tags": […], "remove_tags": […]}` changes the tags
/// of a device. `{"forget_user": …}` removes all devices of a user. The farm itself writes `{"invalid": …, "at": …}`, which
/// removes a token from its device.
package enum DeviceInputParser {
    /// - Parameter raw: the entry's bytes as the producer wrote them.
    package static func parse(
        _ raw: [UInt8], rules: DeviceInputRules = DeviceInputRules()
    ) throws(DeviceInputError) -> DeviceInput {
        guard raw.count <= DeviceInputRules.mostBytes else {
            throw DeviceInputError(
                field: DeviceValueReader.whole, position: DeviceInputRules.mostBytes,
                reason: "larger than \(DeviceInputRules.mostBytes) bytes: \(raw.count)")
        }
        return try raw.withUnsafeBufferPointer { (bytes) throws(DeviceInputError) in
            var reader = DeviceInputReader(UnsafeRawBufferPointer(bytes), rules: rules)
            try reader.read()
            return try input(reader)
        }
    }

    private static func input(_ reader: DeviceInputReader) throws(DeviceInputError) -> DeviceInput {
        if let user = reader.text(.forgetUser) {
            try refuseOthers(than: [.forgetUser], in: reader)
            return .forget(user: user)
        }
        if let address = reader.invalid {
            try refuseOthers(than: [.invalid, .at], in: reader)
            guard let time = reader.time(.at) else {
                throw reader.error(.at, "\"at\" is missing; it says when the token was invalid")
            }
            return .invalidate(address, at: time)
        }
        guard let id = reader.id else {
            throw reader.error(.id, "\"id\" is missing; this field names the device")
        }
        if reader.has(.remove) {
            try refuseOthers(than: [.remove, .id, .seen], in: reader)
            return .remove(id: id, seenUntil: reader.time(.seen).map { Int(foreign: $0 / 86_400) })
        }
        if reader.has(.addTags) || reader.has(.removeTags) {
            let leading: DeviceField = reader.has(.addTags) ? .addTags : .removeTags
            try refuseOthers(than: [leading, .id, .addTags, .removeTags], in: reader)
            return try change(of: id, reader)
        }
        return .set(try fields(of: id, reader))
    }

    /// - Parameter fields: the allowed fields. The first field decides the form of the input.
    private static func refuseOthers(
        than fields: [DeviceField], in reader: DeviceInputReader
    ) throws(DeviceInputError) {
        for field in DeviceField.allCases where reader.has(field) && !fields.contains(field) {
            throw reader.error(
                field,
                "\"\(fields[0].rawValue)\" and \"\(field.rawValue)\" exclude each other; send two inputs")
        }
    }

    private static func change(
        of id: String, _ reader: DeviceInputReader
    ) throws(DeviceInputError) -> DeviceInput {
        let (added, removed) = (unique(reader.tags(.addTags)), unique(reader.tags(.removeTags)))
        if let both = added.first(where: removed.contains) {
            throw reader.error(.removeTags, "\"add_tags\" and \"remove_tags\" both have \"\(both)\"")
        }
        guard !added.isEmpty || !removed.isEmpty else {
            throw reader.error(
                reader.has(.addTags) ? .addTags : .removeTags, "the input adds and removes no tag")
        }
        return .change(id: id, addTags: added, removeTags: removed)
    }

    private static func fields(
        of id: String, _ reader: DeviceInputReader
    ) throws(DeviceInputError) -> DeviceFields {
        try reader.checkAddresses()
        if reader.has(.at) { throw reader.error(.at, "\"at\" needs \"invalid\"") }
        if reader.has(.addresses) {
            for field in DeviceField.ofAddress where reader.has(field) {
                let name = field.rawValue
                throw reader.error(
                    field,
                    "\"addresses\" and \"\(name)\" exclude each other; put \"\(name)\" into each address")
            }
        } else if !reader.has(.token), !reader.has(.registered) {
            throw reader.error(
                .token,
                "\"token\" is missing; an input needs \"token\", \"addresses\", \"remove\", \"add_tags\" or "
                    + "\"remove_tags\" beside \"id\"")
        }
        return DeviceFields(
            id: id, addresses: reader.addresses, user: reader.text(.user), tags: unique(reader.tags(.tags)),
            zone: reader.text(.zone), lang: reader.text(.lang), platform: reader.text(.platform),
            app: reader.text(.app), os: reader.text(.os), model: reader.text(.model),
            reachability: reader.text(.reachability), network: reader.text(.network),
            times: try times(reader))
    }

    /// The times that an import keeps; nil if the input has none.
    private static func times(_ reader: DeviceInputReader) throws(DeviceInputError) -> DeviceTimes? {
        guard let registered = reader.time(.registered) else {
            for field in [DeviceField.seen, .since] where reader.has(field) {
                throw reader.error(
                    field, "\"\(field.rawValue)\" needs \"registered\", which only an import has")
            }
            guard reader.since.allSatisfy({ $0 == nil }) else {
                throw reader.error(.addresses, "\"since\" needs \"registered\", which only an import has")
            }
            return nil
        }
        return DeviceTimes(
            registered: registered, seenDay: reader.time(.seen).map { Int(foreign: $0 / 86_400) },
            since: reader.since)
    }

    /// The tags in ascending order, each once.
    private static func unique(_ tags: [String]) -> [String] {
        tags.count > 1 ? Set(tags).sorted() : tags
    }
}
