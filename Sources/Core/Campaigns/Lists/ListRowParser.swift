import PushModel

/// A row of an uploaded file, with its token and its time zone.
package struct ParsedListRow: Equatable, Sendable {
    /// The bytes of the device token.
    package let token: [UInt8]
    /// The name of the time zone; nil if the row has none.
    package let zone: String?
    /// The names of the row's values.
    package let names: [String]
    /// The sizes of the values, in bytes of JSON without quotes.
    package let sizes: [Int]
    package let row: ListRow
}

/// Why a row of an uploaded file is not valid.
package struct ListRowError: Error, Hashable, Sendable {
    /// The column with the fault; empty if the row as a whole is wrong.
    package let field: String
    package let reason: String

    init(_ field: String, _ reason: String) { (self.field, self.reason) = (field, reason) }
}

/// Reads the rows of an uploaded file. A row is a JSON object: the columns of token, language and time zone, and all other members
/// as values for placeholders. The members of an object `values` are values, too.
package struct ListRowParser {
    /// The names of the columns that are not values.
    package struct Columns: Sendable {
        package var token: String
        package var lang: String
        package var zone: String

        package init(token: String = "token", lang: String = "lang", zone: String = "zone") {
            (self.token, self.lang, self.zone) = (token, lang, zone)
        }
    }

    private static let valuesName = "values"
    /// The maximum number of values of a push.
    private static let mostValues = 64

    private let columns: Columns
    private let zoneFault: (String) -> String?

    /// - Parameter zoneFault: returns why a text is not the name of a time zone; nil if it is one.
    package init(_ columns: Columns, zoneFault: @escaping (String) -> String?) {
        (self.columns, self.zoneFault) = (columns, zoneFault)
    }

    private struct Parts {
        var texts: [String: String] = [:]
        var values = JSONText()
        var names: [String] = []
        var sizes: [Int] = []
    }

    /// Parses one row.
    package func parse(_ json: [UInt8]) throws(ListRowError) -> ParsedListRow {
        let parts = try parts(of: json)
        guard let text = parts.texts[columns.token] else {
            throw ListRowError(columns.token, "the token is missing")
        }
        let token: [UInt8]
        do throws(DeviceToken.Fault) { token = try DeviceToken.bytes(of: text) } catch {
            throw ListRowError(columns.token, "\(error)")
        }
        let lang = parts.texts[columns.lang]
        guard lang.map(JobLimits.isLanguage) ?? true else {
            throw ListRowError(columns.lang, "must be a language such as \"de\" or \"pt-BR\"")
        }
        let zone = parts.texts[columns.zone]
        if let reason = zone.flatMap(zoneFault) { throw ListRowError(columns.zone, reason) }
        var push = JSONText(capacity: 128 + parts.values.bytes.count)
        push.beginObject()
        push.member("token", Hexadecimal.text(of: token))
        if !parts.names.isEmpty { push.member(Self.valuesName, json: parts.values.bytes) }
        push.endObject()
        guard push.bytes.count <= ListRow.mostBytes else {
            throw ListRowError(
                "", "the row has \(push.bytes.count) bytes as JSON; at most \(ListRow.mostBytes) are allowed")
        }
        return ParsedListRow(
            token: token, zone: zone, names: parts.names, sizes: parts.sizes,
            row: ListRow(lang: lang, push: push.bytes))
    }

    private func parts(of json: [UInt8]) throws(ListRowError) -> Parts {
        let result: Result<Result<Parts, ListRowError>, JSONError> = json.withUnsafeBytes { bytes in
            Result { () throws(JSONError) in
                // The whole text is checked first, so that a fault of JSON is not named as a fault of a column.
                try JSONScanner.validate(bytes)
                var scanner = JSONScanner(bytes)
                try scanner.start()
                guard try scanner.kind() == .object else {
                    return .failure(ListRowError("", "must be a JSON object such as {\"token\": \"…\"}"))
                }
                var parts = Parts()
                parts.values.beginObject()
                if let error = try read(&scanner, into: &parts, isInValues: false) { return .failure(error) }
                parts.values.endObject()
                return .success(parts)
            }
        }
        switch result {
        case .success(let parts): return try parts.get()
        case .failure(let error): throw ListRowError("", "is not valid JSON: \(error)")
        }
    }

    /// Reads the members of the object at the scanner's position.
    private func read(
        _ scanner: inout JSONScanner, into parts: inout Parts, isInValues: Bool
    ) throws(JSONError) -> ListRowError? {
        try scanner.enterObject()
        while let key = try scanner.nextKey() {
            let name = scanner.text(key)
            let kind = try scanner.kind()
            if kind == .null {
                _ = try scanner.skipValue()
            } else if !isInValues, [columns.token, columns.lang, columns.zone].contains(name) {
                guard kind == .string else { return ListRowError(name, "must be a string") }
                let text = scanner.text(try scanner.string())
                guard parts.texts.updateValue(text, forKey: name) == nil else {
                    return ListRowError(name, "is given twice")
                }
            } else if !isInValues, name == Self.valuesName, kind == .object {
                if let error = try read(&scanner, into: &parts, isInValues: true) { return error }
            } else {
                let range = try scanner.skipValue()
                if let error = add(name, kind, scanner.bytes[range], to: &parts) { return error }
            }
        }
        return nil
    }

    private func add(
        _ name: String, _ kind: JSONKind, _ value: Slice<UnsafeRawBufferPointer>, to parts: inout Parts
    ) -> ListRowError? {
        guard kind == .string || kind == .number || kind == .boolean else {
            return ListRowError(name, "must be a string, a number, true or false")
        }
        guard !parts.names.contains(name) else { return ListRowError(name, "is given twice") }
        guard parts.names.count < Self.mostValues else {
            return ListRowError("", "has more than \(Self.mostValues) values")
        }
        parts.names.append(name)
        parts.sizes.append(kind == .string ? value.count - 2 : value.count)
        parts.values.member(name, json: value)
        return nil
    }
}
