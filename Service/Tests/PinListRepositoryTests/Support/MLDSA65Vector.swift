// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One key of ML-DSA-65 as dilithium-py 1.5.1 derives it, an implementation in Python alone. The seed is that of the
/// examples of RFC 9881: 0, 1, 2 and so on to 31.
enum MLDSA65Vector {
    /// The seed.
    static let seed = [UInt8](0..<32)

    /// The hex SHA-256 of the public key's DER, by dilithium-py, Python's `cryptography` and hashlib.
    static let keyID = "b8b62131bfbe84433efb2273d7f5b87f7a22854a2cfd366fc2aead86d837c52d"

    /// The expanded key: 4,032 bytes.
    static var expandedKey: [UInt8] {
        Data(base64Encoded: self.expandedKeyText, options: .ignoreUnknownCharacters).map { Array($0) } ?? []
    }

    private static let expandedKeyText = """
        SGg9kZeOMes93biwRzSC0riKX2JZSf2PWKVh5pa9TCfYU/ppuBmQI+jNZ43Z+r+QR2Rv/QyzzH95WAWnHnDSNxsFY+PNM0YUnIyevPI7Ck5akA7q
        nGVieQp8Y+OGY9qi3dtuSA3EBaHnAZSLdIQe9cwcPyvzJ5culRBRDNU3XswIVXF3EYciIYYjgQAEJHeAYUdQB1AXFwNVBFFRJUcYOARhdXIiRBCI
        aGCGRgEnR1ZxgIcGZoZDMkRBIgQ2OGZ1AoI2NCRDIgVzZBBkVVR3InVWgUM2FGJVCCBkN2hUaHVDU3UQaHGDM4BUdQUlgHUoGIQ4EQhyYCAgCFiD
        AYNhE4KCEgYXEVeHaHiIeGQ3VGAWVxVQhHGIZgcnMogGZHQYVnYhgDGCdmQVeCRQJWRmQxE1BDZHgBJmcxQwEWYGVYZHGDaIY1A4R4YRASAjVhFh
        N4YHhTISQAdUeIIwQ2ZhFmBCVUGChWBTZ3hWOENEMGMmEHcHMXhCchQRFlMDhSdoZ0YBUII3NTIHZhB1BGgSSAZmAwMmUjEkRUCIADGAiHZyFzBx
        gkchUSeAEWVEdIZhciMzgIZgZEaDUhWEIDaAEYAhGBgzF3NUU0iBAESGU2dDcFdyWIM0YDhCMoVoEAYEJgQlhFYCNWggUYOGOEMkISJCRWRYWGdx
        RXKFBHiHFxgGGINghoZBVlCBFlAmRnAGCCZiJzgxckByVzAHJyiGIGZ1iGgmBwZAIDMDQ2YxVUZCRTRWZxhzRWWDcCJQhGhWKIBwNnCEYjcXEAZX
        F1hHeHCGVVN4IjUURncoVnMDIocAFDMgYXFYRVJmMlAmUTNHdzgDVRZDE0c1EGYnUXV0AkaIgXBnQ0aBhgF2UkUzMIchBDQ0AQMih2NRVSZQgTB3
        RURBaBVBg2NkESBAJocwQ2d3EoCIRjVUUwBiRYEEWDZRJIQngDRRZmNYQ3hWAUZRFXQjIUNmhSJHdzE0UBeDYkIFUABkhEcSNECIAGBHNUBXgzNj
        CCEGFSJSBySIUTSGNwZ2IliFcSZWc0doFkZGhCWHCBInBVAIODIAIyCAZjRTNgAzRoVyRwY1VAA1dxInUjBxQlNodDdFcAVmQyJEgoUgchgzMCBT
        NzNAdyeAVSUwY1JQQGczRhMYBygHFySDd2NFcxhYUWAjM0Q2JRZDOBYIWHc0YkKIMAcDZYU3VQB1UjFQNwITJGMENwhoBjYVAwMAQ1hjVwgCEQZk
        c0Y1ImIDMEOAIQhSh1eDIQeIZ0gIVjR0NnNChAWEZoQUNwBVEIc0JkR3IRJzhHNlJkcldxRHBBeGRCYCRxGHQIEiFmBYRxeBNwZ2gIFwWBhVhUcT
        Y0IQdVgBY1g1hRhEA4RxEDOHQmKCR3QTZVRCcHNGNXd1AGYlYmhCAhJGg4ZGFmRgMSJTiIRUAIRXNEZHVEclYFRhZoRmMIgGOCcVYyhxg4QGUiR2
        gRYGYhMDMBhoAoAThGMFBWVyOHWDZXIyMGiARhImBmUWdVcFMkEyJ2c1FwgBUwAWKEYBNIh3ARGIFVcTFUZDEXBHMogoVjaCNFVQQYYnZWMREWh1
        BRBCVEFEJ4UiERcXiBU2hRV0RxZiVTZVg2MCUChVdodTJxNxA3I3BXFHYXE2UYQSQjZkRGZBQ1IFIQhRVwMzY4YCWEJmKBSBEFRiaBcwOHVkMyFl
        iFaGY2MoE0BiVAEgQIhlR4hhcWV2I3JiNIZwMBFRFWMgUHU1AhIhCEJlMUNVZxEVJXIBBoU2MBUFV1hgWHhDFDEyeHiAhzhHiGN4gYE4c0JheDiF
        JGZ3M1BgIRUUZCOCMmgBNUQHg0dThVNXUoMjNRh2ARUhNDJXczM2VRiGFYFhaCQYQiEiMIQUSBUSARAwJHdyQlRDZgZ3F3B2AwFFJUA1ABg4cyN3
        NSZQhjVxE3NEgWBSd0VlU3MAhYN3hQNRIRFUgGKIUBgCaBOGUgU0aAEyByQYAyEwBXI4ZAdkJxFBAYOFJVEGMmBxBIZRdoM4KFcnYjVFGHNQgxMo
        hjdmYUJjEWdQMxElU3ZBdgMUMxdyEiNEGKguT1yeoPr5nrBNeKczJxERfDPxjsoh+HQzdq2lIZgEp+2aVVf81no1ULOkuMWIYpwCFHX6PVbV1s+7
        Ggm9qNFN5iLd/xbYvJmxQniorx12vtFXZy3ZwyMW+X6Nqt742dppWGclVn+5a1mZDUvwvJwZW5C3QpX1Z1skJXwnEMF1sBU/KREyjC63q7mtRucK
        i1PDnqZCzuSzy0JiDoY86LZQzorc2SNyGhaHAjxnOoy7awPVHNGX6MNG663Ok5UPiM7iAdueMghD4p8wDZoZUA1wpMrycsaeTu9p+7ilXv18or7Z
        kNLTtYKEj5xFwqvFTPxH008GwP+lb812KrnLqRRtdyUhiWOyQNcrbSLJMXH71HeIt25yBC3vCHjSPfYxoaHlpgJ2ht5bShDpEGnI8roCWbBNZAna
        llZ8pS2klwJuWDoOzvwfAea5iOIfl2eit+FnLeuaHio/zIY6qRUXwzRiBgG0/nlzDpNJNfS2+8TjJpUUXCtfahJ/7MCid0UevD/VI0RPnufJw0U0
        81bbVE/DHBv95fZcd+ovfC6uTFXrrxBCccVm/U66xxx6YsdJUoF65nVQTZWZsbditqyhaKgySMnZrbDOsVVuV1lJC7wMeQB5WtchIwOLZi9k8Qap
        mTaBol1Zr3vJeiNb6ShMW8RabJDLHCmZxmPZa0eOIwf4VUiVfWV0DiZz6evRNSgpA49GK4/TtWgdpVwCUlI4U1JeoK1kfnGsLFqIk+YDrJflbATO
        svJvXFtLbZSrgROA/QDyII/oZTUIauv9NcKRIGJMBPu2ETkp2cVWNQJTdmwgn9uoPJX8zTQqKAmTVdALyGP07vWW6wtC68x8eUkczq4gXqC4BZ+7
        ilcmxZSdKxXn4pxR/JsC7hpPw1e18b75xK3UaiqSDC+/CKN+sVFL+hURCkOSp0xvE8UMXP/ZdTEJjXzSO2DrNcSkKLRsVThuEBDEun9w5Mfst1df
        MGOnHoTf3PCaWLLNsPmfJ+03hhDSXLrXv6a6DVkYnP6I6rm0bX5tsDB+q+QZjpm9cfd5q2ZYHgkS/HsdJYUkXpoSaHqXXNXo4dzARdX4kcTGhdsH
        z4Hnc4mzY+tr3+ObJ/+EyX7v7hYuO0Uf5pFHGctkNthVlg/5FdfOpq3q/fwcBXhsSfkjpHT/38MVOgbm7QsK0iDXJSRDTVJzwKq23eTpFHbVgaJp
        WmDebZ9E13qggmbpOO60qVl8m2SYYFnkkmKk6rJFThQBWtBTbEJzOl1315lcKiBEYAnr/lYyyAwI7SuXrzUGZIn1l+sbHxHwT2DgyQQBWcRKs+YO
        ChUinRkSKL7Re7w6yTmzxnzuE181LCchbJwx9yo+hwQMX2GTBusLbMoqnOeyKhaU0AypwF4xUSZFfybOhPlhckGGB4L4ZLRz2EAXSRkCsb3IzcWA
        DdRhJ/uApxwJW0c6ViUps7Hn5DfhWKX2Zm6ZdNAFsGLCMJ5tzpj5tljG4/miFtWMjJFCvRyMhanahy67+tP+qdmroraMDo8Zxv9fAFhNRdr51snW
        ntBLjajWhyWLd4B5J2EsUwRG/qdpeuP5JmmJKbxqWozz4gJMDwxe5XtYab+YGIHK+eNmX8f378Z4kp+HpW6qQupNH/ZpGCLdeaRwlrd20djwFFbl
        hzsHOEBsOCxXOunN4tnn8jG2zFxnbnz0OWM3MBOlgHU4H/CUm+CEVG1y5Pij5f5KpQka3SNOKv4AMLG2Y66dLTJBCYa5QCqq8kZbdKXi0Lw446kr
        vd2KH+17lIwjzOb4wI/jVoNbplsPmEBoYW70gTjv2JvzV6VNLrvzdsvcxpxfH2HGTSeUvAbMuavfZuJQhdjIMOKuOw/g8Hp6+LkyC/NClwmX1n18
        Elk6j7+t5jWqxTCDpwIsR9X3elK1e1mNqTkq5thq/Eb8BkVRgbnHWmRtwh+B5L8hN1Pec3/SoUACeSCt01oiP59fRGXOtgwD7QRVozOlzIOtv0Px
        9Cwsy4Mowhx6t/rtKyHPreLaVSI6qrKvm0HHMyNBdGNBs5qi9DgVZQ9UgFEUJM+mkBd5xNGLY4zAKHqq8xaAM40gsXx0Sf3Gonio2WqC7kxOykAS
        Xi1lKQBxx67xvmqZFZj7nVlRJSO81LOMVmuOgKc64zPhNEFDJ+8dg8R8Sd/nk23xM4peJHeHho/IT9y5WsicGFxLtf1XsjOKxCtBwQqCPfOWJPNr
        FaLwZ1hOBsouCMyv8WGP4B3QbfNRLgtyTeyFBtokIVrKzCxRuCrY0wIAL7QQaLHaT4uxR5h7NRa61dvd8BMY/T+pvENwKsSYxxnZXy6EG2IqXkhI
        o8XCYpWZkup6fXLKijaAKPSX362TNVy7G7l4bRT/LPWQMXhI+VhWQnEQ3aNvUZKoFs6ciBbMe7/IBO/EAIWjhQuJ8ef+VlbbpBD5Bql8MjNsGufo
        FzeoPghzVOQo2oU42Ujb9d+stZ3Stf07yAP0ukMsmnOd8s+p7ZSEMg+X7f8aSMa4azACz7dy3V5WK8TD1oPtlkthmfoFFLB5DZWAlbe4XGvodfu1
        WeGTAUbM6mOjiKGU/gnD3qA75S3ifpAQF6/oCa9jCnOCv1xM1NG49BV5+0NI7eTKBfTNPxOaMbJUTlFtvkCGubtLK+1H4tIwmC3VGSQp03e3wHRc
        wGji9aSqBMf/hyCe0SWZdqD8myXp6FHU41AsAshdbf8CniEdAevw6ecYjVaPhDfYE7DxIvL7F2A7aT7Zw48Xz9ULgV5tnfwO0szxn2OZJ0oUIPI1
        pZ2L9yQ0XhTkXZ5L6JNN/D+pJnjbYdcRi/U8uKIiWzNffq5Q4/lBI3Yo23bY6jj3enKvOibIH+Q1I7M1U1pdHbfDjzQQgrtXNNCJ6K4wnP2joLy1
        zVsJcRPI7flhaqT25mMbkSUnb7P2gKNDQcPbZo3GytRfyTsnCMoq91zM5zT9GRxQCJ2tU5gv3a4CUx/5Ph8h/zlfwKEodO3wa2+WR+lacyRYbHHf
        2R2QHWIYWBkP7NAMzRELusWflsuITDyTmUdIpW9BKDv8QfuJBSFTqJRYjDy5AX89ZjJsmFY35XWsuBI0Y0JlQCXWAt47qUDBmsGmM9/9qXe1KbgB
        PhnB1tBoD02uYskkRQrmaquC8hRzBh2rPWKyR/kH41UZOa0/VGXp0IqCv+oX7qG2srkjdXR3+ZMACy9Dtw8oqqsf6aJq0f0zYWFsCw4kL+dmBLcD
        Oh8w6X4o9SbKPIgP4rjZ0bDJ/xiLMcudl0JayrmyFtmKauNV5YPaceiGTuPRawdZeWGQ71RcHmK/75KvbKFHsTJE1siS/I7yI6s/Q/kkwvRmCX7o
        """

    /// A PrivateKeyInfo of RFC 5958 around what stands for the key, written by hand.
    static func pkcs8(_ key: [UInt8], parameters: [UInt8] = []) -> [UInt8] {
        let identifier: [UInt8] = [0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, 0x12]
        return self.tagged(
            0x30, [0x02, 0x01, 0x00] + self.tagged(0x30, identifier + parameters) + self.tagged(0x04, key))
    }

    /// The three forms of RFC 9881, section 6.
    static func seedForm(_ seed: [UInt8] = Self.seed) -> [UInt8] { self.pkcs8(self.tagged(0x80, seed)) }

    static func expandedForm(_ key: [UInt8] = Self.expandedKey) -> [UInt8] { self.pkcs8(self.tagged(0x04, key)) }

    static func bothForm(_ seed: [UInt8] = Self.seed, _ key: [UInt8] = Self.expandedKey) -> [UInt8] {
        self.pkcs8(self.tagged(0x30, self.tagged(0x04, seed) + self.tagged(0x04, key)))
    }

    /// A tag, a length and what is in it.
    static func tagged(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length = content.count
        guard length >= 0x80 else { return [tag, UInt8(length)] + content }
        let bytes = [UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)].drop { $0 == 0 }
        return [tag, 0x80 | UInt8(bytes.count)] + bytes + content
    }
}
